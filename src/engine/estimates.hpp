// SPDX-License-Identifier: BSD-2-Clause
// What the coordinator computes of contributions: sums in a fixed order. A run that is resumed goes
// through its history with estimates that are recorded (engine/recorded_estimates.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/points.hpp"
#include "fleet/fleet.hpp"
#include "optimizer/optimizer.hpp"
#include "scheme/scheme.hpp"
#include "trace/rows.hpp"

namespace quorate {

struct EstimateOptions {
    double clip = 0;         // estimates with a larger norm are scaled down to it; 0: none are
    double l2 = 0;           // by which local steps decay what a worker does not touch
    std::uint64_t seed = 0;  // of the random vector that contributions are projected on
    /// Of all training rows: turns scores into the derivatives of the losses by them, and returns
    /// the sum of the losses. Only schemes that Combine need it; none: a dry run.
    std::function<double(std::span<double> scores)> loss_derivatives = {};
    std::int64_t rows = 0, outputs = 1;  // how many scores those are
};

/// A contribution in a sum.
struct Summand {
    const Arrival* arrival;
    double weight;
    double descent_step = 0;  // of local steps
    bool used_before = false;
    // Of a term that is placed (Placed in scheme/types.hpp):
    Rows from = {};
    std::int64_t at = 0;
};

/// What is computed of contributions. Local; used by the engine's thread.
class Estimates {
public:
    virtual ~Estimates() = default;
    /// Measures what a scheme asks for. @param event  with which the contribution came
    virtual trace::Measure measure(const Needs& needs, Fleet& fleet, const Arrival& arrival,
                                   std::int64_t event) = 0;
    /// Places the terms, in this order, in a vector of all scores, and forms the derivatives of the
    /// losses of it: the formed vector, until the next estimate. O(rows).
    virtual void combine(Fleet& fleet, std::span<const Summand> placed) = 0;
    /// Returns operands made of the formed vector. The same list twice in a row gives the same
    /// operands.
    virtual PointList form(const std::shared_ptr<const std::vector<Operand>>& operands) = 0;
    /// Forms the estimate of a step: placed terms, then the others, each in this order.
    /// O(terms x support + parameters).
    /// @param row  its `samples` must be set; receives gradient_norm, loss_estimate and inner. The
    ///             norm is that before clipping, and not finite if the estimate is not
    virtual void form(const Needs& needs, Fleet& fleet, const Step& step,
                      std::span<const Summand> placed, std::span<const Summand> terms,
                      trace::Round& row) = 0;
    /// Makes the update with the estimate that was formed.
    /// @param version  of the next point  @param next  receives it
    virtual void update(Optimizer& optimizer, bool displacement, double step_size, Version version,
                        const std::shared_ptr<std::vector<double>>& next) = 0;
    /// Forgets the estimate before: the next one's inner product with it is 0.
    virtual void forget_last() = 0;
};

/// Those that are computed of the values that a fleet has.
class ComputedEstimates final : public Estimates {
public:
    /// @param points  of the run; must outlive this object
    ComputedEstimates(EstimateOptions options, const Needs& needs, const Points& points,
                      std::size_t parameters);

    trace::Measure measure(const Needs& needs, Fleet& fleet, const Arrival& arrival,
                           std::int64_t event) override;
    void combine(Fleet& fleet, std::span<const Summand> placed) override;
    PointList form(const std::shared_ptr<const std::vector<Operand>>& operands) override;
    void form(const Needs& needs, Fleet& fleet, const Step& step, std::span<const Summand> placed,
              std::span<const Summand> terms, trace::Round& row) override;
    void update(Optimizer& optimizer, bool displacement, double step_size, Version version,
                const std::shared_ptr<std::vector<double>>& next) override;
    void forget_last() override;

    /// The estimate before, for a checkpoint; empty unless the scheme asks for inner products.
    std::vector<double>& last() { return last_; }

private:
    Point form(const Operand& operand) const;
    void place(Fleet& fleet, std::span<const Summand> placed, std::span<double> sum) const;
    void add(Fleet& fleet, const Summand& term, bool displacement);

    EstimateOptions options_;
    const Points& points_;
    std::vector<double> estimate_, last_;
    std::vector<double> probe_;   // a random vector to project contributions on
    std::vector<double> formed_;  // see combine()
    std::optional<double> formed_loss_;
    // What was formed of it last: all tasks of a round may have the same operands.
    std::pair<std::shared_ptr<const std::vector<Operand>>, PointList> operands_;
};

}  // namespace quorate
