// SPDX-License-Identifier: BSD-2-Clause
// The estimates with which a resumed run goes through its history: it takes them from its trace and
// its checkpoint, instead of computing them.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/estimates.hpp"
#include "engine/snapshot.hpp"

namespace quorate {

/// Estimates that compute nothing. Measures and inner products come from the trace. Points have no
/// meaningful values until restore_points() sets them. Local.
class RecordedEstimates final : public Estimates {
public:
    explicit RecordedEstimates(Past past) : past_(std::move(past)) {}
    /// What the run is resumed from.
    const Past& past() const { return past_; }

    trace::Measure measure(const Needs&, Fleet&, const Arrival& arrival,
                           std::int64_t event) override
    {
        return past_.measures.at({event, arrival.part});
    }
    void combine(Fleet&, std::span<const Summand>) override {}
    PointList form(const std::shared_ptr<const std::vector<Operand>>& operands) override
    {
        return PointList(operands->size(), std::make_shared<NumberVector>());
    }
    void form(const Needs&, Fleet& fleet, const Step&, std::span<const Summand>,
              std::span<const Summand> terms, SumTable*, trace::Round& row) override
    {
        fleet.sums(by_group(fleet, terms));  // sums take time under the virtual clock
        row.inner = past_.inner.at(rounds_++);
    }
    void update(Optimizer&, double, Version version,
                const std::shared_ptr<NumberVector>& next) override
    {
        points_[version] = next;
    }
    void forget_last() override {}

    /// Sets the values of the points of the history that are still alive at its end. Moves them out
    /// of past(), so call it once. O(points).
    void restore_points();

private:
    Past past_;
    std::size_t rounds_ = 0;  // gone through so far
    std::map<Version, std::weak_ptr<NumberVector>> points_;
};

}  // namespace quorate
