// SPDX-License-Identifier: BSD-2-Clause
// What a resumed run goes through its history with: instead of estimates that it computes, those
// that its trace and its checkpoint tell.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/estimates.hpp"
#include "engine/snapshot.hpp"

namespace quorate {

/// Nothing is computed: points stay blank until restore_points().
class RecordedEstimates final : public Estimates {
public:
    explicit RecordedEstimates(Past past) : past_(std::move(past)) {}
    const Past& past() const { return past_; }

    trace::Measure measure(const Needs&, Fleet&, const Arrival& arrival,
                           std::int64_t event) override
    {
        return past_.measures.at({event, arrival.part});
    }
    void combine(Fleet&, std::span<const Summand>) override {}
    PointList form(const std::shared_ptr<const std::vector<Operand>>& operands) override
    {
        return PointList(operands->size(), std::make_shared<std::vector<double>>());
    }
    void form(const Needs&, Fleet&, const Step&, std::span<const Summand>, std::span<const Summand>,
              trace::Round& row) override
    {
        row.inner = past_.inner.at(rounds_++);
    }
    void update(Optimizer&, bool, double, Version version,
                const std::shared_ptr<std::vector<double>>& next) override
    {
        points_[version] = next;
    }
    void forget_last() override {}

    /// Gives the points that are still named their values.
    void restore_points();

private:
    Past past_;
    std::size_t rounds_ = 0;
    std::map<Version, std::weak_ptr<std::vector<double>>> points_;
};

}  // namespace quorate
