// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/estimates.hpp"
#include "run/kept_models.hpp"
#include "trace/trace.hpp"

namespace quorate {

/// What was found in a round whose estimate was computed again.
struct CheckedRound {
    std::int64_t round;  // from 1
    std::size_t terms;   // of its estimate, each with a weight in the trace
    /// How far the norm of the estimate is from that in the trace, and the model made with it from
    /// that, over the step; the larger of the two. Relative to the sum of the norms of the weighted
    /// contributions, because their rounding errors are too.
    double difference = 0;
    double bound = 0;      // what rounding explains, at least 1e-9
    bool update = false;   // whether the models before and after were there to compare
    std::string why = {};  // it cannot be compared at all; empty: it can

    bool agrees() const { return why.empty() && difference <= bound; }
};

/// Estimates of a run that is gone through again by its trace (engine/recorded_estimates.hpp), of
/// which a sample is computed: from the contributions, at the points that the trace keeps, and the
/// weights that the trace has. In all other rounds nothing is computed. Local.
class CheckedEstimates final : public Estimates {
public:
    /// @param computed  of the engine
    /// @param trace, kept  of the run, of which all points are kept that the sample needs; they
    ///                  must outlive this object, as must `found`
    /// @param unit      of rounding of the sums that the run made
    /// @param sample    rounds
    /// @param found     receives a row for each of them
    CheckedEstimates(ComputedEstimates& computed, const trace::Trace& trace, const KeptModels& kept,
                     double unit, Wire wire, std::set<std::int64_t> sample,
                     std::vector<CheckedRound>& found);

    trace::Measure measure(const Needs& needs, Fleet& fleet, const Arrival& arrival,
                           std::int64_t event) override;
    void combine(Fleet& fleet, std::span<const Summand> placed) override;
    PointList form(const std::shared_ptr<const std::vector<Operand>>& operands) override;
    void form(const Needs& needs, Fleet& fleet, const Step& step, std::span<const Summand> placed,
              std::span<const Summand> terms, SumTable* table, trace::Round& row) override;
    void update(Optimizer& optimizer, double step_size, Version version,
                const std::shared_ptr<NumberVector>& next) override;
    void forget_last() override {}

private:
    using Place = std::pair<std::int64_t, std::int64_t>;  // event and part
    using Key = std::tuple<TaskId, int, std::int64_t, Seconds>;
    bool sampled(std::int64_t round) const { return sample_.contains(round); }
    bool weigh(std::vector<Summand>& terms, double divisor);
    void compare_update(double step_size, Version version);

    ComputedEstimates& computed_;
    const trace::Trace& trace_;
    const KeptModels& kept_;
    double unit_;
    Wire wire_;
    std::set<std::int64_t> sample_;
    std::vector<CheckedRound>& found_;
    std::map<Key, Place> places_;  // of contributions that a sample uses
    std::map<Place, trace::Measure> measures_;
    std::map<std::int64_t, std::vector<trace::Weight>> weights_;  // by round of the sample
    std::set<Version> wanted_;                                    // points that the sample needs
    std::map<Place, std::vector<double>> left_;                   // weights of a round, last first
    std::int64_t round_ = 0;
    double scale_ = 0;  // of the last estimate: the sum of the norms of its terms
};

/// Returns the versions at which the contributions were taken that have a weight in a round, by
/// round. Contributions that the trace does not list are left out.
std::map<std::int64_t, std::set<Version>> versions_used(const trace::Trace& trace);

}  // namespace quorate
