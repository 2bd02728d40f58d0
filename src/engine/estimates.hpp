// SPDX-License-Identifier: BSD-2-Clause
// What the coordinator computes from contributions: sums in a fixed order. A resumed run goes
// through its history with recorded estimates instead (engine/recorded_estimates.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/addend.hpp"
#include "engine/points.hpp"
#include "engine/sum_table.hpp"
#include "fleet/fleet.hpp"
#include "optimizer/optimizer.hpp"
#include "scheme/scheme.hpp"
#include "straggler/byzantine.hpp"
#include "trace/rows.hpp"

namespace quorate {

/// Options of ComputedEstimates.
struct EstimateOptions {
    double clip = 0;         // estimates of a larger norm are scaled down to it; 0: none are
    double l2 = 0;           // weight of the L2 term, by which local steps decay parameters
    std::uint64_t seed = 0;  // of the random vector that contributions are projected on, and of
                             // what aggregators draw
    ByzantineWorkers byzantine = {};  // of whom those that collude lie here
    /// Replaces the scores of all training rows, rows x outputs, by the derivatives of the losses
    /// by them, and returns the sum of the losses. Only schemes that Combine need it; none: a dry
    /// run.
    std::function<double(std::span<double> scores)> loss_derivatives = {};
    std::int64_t rows = 0, outputs = 1;  // training rows, and scores of each
    int threads = 1;                     // that share out the parameters
    Wire wire = Wire::binary64;          // what points and operands are rounded to
};

/// A contribution in a weighted sum.
struct Summand {
    const Arrival* arrival;
    double weight;
    double descent_step = 0;  // step size of local steps
    bool counted = false;     // the same step uses it elsewhere too: samples and losses count there
    bool used_before = false;  // an earlier sum has used it, so that its values are there
    // Of a term that is placed, as in Placed (scheme/types.hpp):
    Rows from = {};
    std::int64_t at = 0;
};

/// Returns the terms of a sum by the group of their worker.
std::vector<std::vector<Weighted>> by_group(const Fleet& fleet, std::span<const Summand> terms);

/// What the engine needs computed from contributions. Local; used by the engine's thread.
class Estimates {
public:
    virtual ~Estimates() = default;
    /// Measures of a contribution what the scheme asks for. O(values).
    /// @param event  with which the contribution came
    virtual trace::Measure measure(const Needs& needs, Fleet& fleet, const Arrival& arrival,
                                   std::int64_t event) = 0;
    /// Places the terms, in this order, in a vector of the scores of all training rows, and turns
    /// the scores into the derivatives of the losses. The result is the formed vector, which later
    /// operands are made of. O(elements of the terms + rows x outputs).
    virtual void combine(Fleet& fleet, std::span<const Summand> placed) = 0;
    /// Returns operands made of the formed vector. The same list object twice in a row gives the
    /// same vectors. O(elements of the operands).
    virtual PointList form(const std::shared_ptr<const std::vector<Operand>>& operands) = 0;
    /// Forms the estimate of a step from the placed terms, then the table, then the other terms,
    /// each in this order. O(terms x support + parameters + what has changed in the table).
    /// @param table  whose sum the step adds; null: none
    /// @param row  receives gradient_norm, loss_estimate and inner; its `samples` must be set. The
    ///             norm is that before clipping. It is not finite if the estimate is not. Where
    ///             estimates are exact the loss is decoded as the gradient is; else it is the mean
    ///             over the samples used. With an aggregator it is the median of the mean losses of
    ///             contributions, as some of them may lie
    virtual void form(const Needs& needs, Fleet& fleet, const Step& step,
                      std::span<const Summand> placed, std::span<const Summand> terms,
                      SumTable* table, trace::Round& row) = 0;
    /// Makes the update of a model with the estimate that was formed last, and rounds the next
    /// point. O(parameters).
    /// @param version       of the next point
    /// @param next          receives the next point
    virtual void update(Optimizer& optimizer, double step_size, Version version,
                        const std::shared_ptr<NumberVector>& next) = 0;
    /// Forgets the last estimate, so that the inner product of the next one with it is 0.
    virtual void forget_last() = 0;
};

/// Estimates that are computed from the values of a fleet's contributions.
class ComputedEstimates final : public Estimates {
public:
    /// @param points      of the run; must outlive this object
    /// @param model       to which estimates are alike in length and type; empty: a dry run
    ComputedEstimates(EstimateOptions options, const Needs& needs, const Points& points,
                      ConstNumbers model);

    trace::Measure measure(const Needs& needs, Fleet& fleet, const Arrival& arrival,
                           std::int64_t event) override;
    void combine(Fleet& fleet, std::span<const Summand> placed) override;
    PointList form(const std::shared_ptr<const std::vector<Operand>>& operands) override;
    void form(const Needs& needs, Fleet& fleet, const Step& step, std::span<const Summand> placed,
              std::span<const Summand> terms, SumTable* table, trace::Round& row) override;
    void update(Optimizer& optimizer, double step_size, Version version,
                const std::shared_ptr<NumberVector>& next) override;
    void forget_last() override;

    /// The estimate that was formed last, clipped.
    ConstNumbers estimate() const { return estimate_; }
    /// The last estimate, which a checkpoint keeps and a resumed run sets; empty unless needs look
    /// back.
    NumberVector& last() { return last_; }

private:
    Point form(const Operand& operand) const;
    void place(Fleet& fleet, std::span<const Summand> placed, Numbers sum) const;
    // The L2 decay of local steps that a worker has left out.
    struct Decay {
        const Support& support;  // what the worker has decayed
        double weight;
        ConstNumbers point;    // where the contribution was taken
        NumberVector touched;  // the point at the support
    };
    struct Group {
        bool formed;                  // the one addend is the sum, which the fleet has formed
        std::vector<Addend> addends;  // contributions that are added up here, or the sum
    };
    // What an estimate is added up from.
    struct Sum {
        std::vector<Group> groups;
        std::vector<Decay> decays;
    };
    // The sum of a node of the table; empty where it has no contributions.
    struct Node {
        NumberVector sum = {};
        Losses losses = {};
    };
    // A node of the table that is to be formed anew.
    struct Anew {
        int node;
        std::vector<Addend> addends;  // of a lowest node
    };
    std::vector<Anew> changed(Fleet& fleet, SumTable& table);
    void add_up(const SumTable& table, const Anew& one, std::size_t first, std::size_t last);
    void aggregate(const Needs& needs, Fleet& fleet, const Step& step,
                   std::span<const Summand> terms);
    double mean_loss(const Needs& needs, Fleet& fleet, const Step& step,
                     std::span<const Summand> placed, std::span<const Summand> terms,
                     const Losses& of_table, std::int64_t samples);
    Sum gather(Fleet& fleet, std::span<const Summand> terms, bool displacement) const;
    Decay decay(Fleet& fleet, const Summand& term) const;
    void add_up(const Sum& sum, const NumberVector* of_table, std::size_t first, std::size_t last,
                bool begun);
    double mean_and_square(double divisor, std::size_t first, std::size_t count);

    EstimateOptions options_;
    const Points& points_;
    NumberVector estimate_, last_;
    std::vector<Node> nodes_;            // of the table
    double loss_ = 0;                    // loss_estimate of the row of the last estimate
    std::vector<double> probe_;          // a random vector to project contributions on
    std::vector<double> formed_;         // see combine()
    std::optional<double> formed_loss_;  // the sum of losses that belongs to it, until it is used
    // The last operands, because all tasks of a round may have the same.
    std::pair<std::shared_ptr<const std::vector<Operand>>, PointList> operands_;
};

}  // namespace quorate
