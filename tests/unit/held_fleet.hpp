// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "fleet/fleet.hpp"

namespace quorate::test {

/// A fleet with one contribution of each worker, and nothing else: what estimates are formed from.
class HeldFleet : public Fleet {
public:
    /// Adds a worker with its contribution.
    /// @param packed  its values at the support
    void add(Support support, NumberVector packed, int group = 0)
    {
        const auto worker = static_cast<Worker>(workers_.size());
        workers_.push_back({worker + 1, "here", 1, std::ssize(support.chosen()), false, group});
        held_.push_back({std::move(support), std::move(packed)});
        Arrival arrival{};
        arrival.worker = worker;
        arrival.handle = static_cast<std::size_t>(worker);
        arrivals_.push_back(arrival);
    }
    /// The contribution of a worker as it came in.
    const Arrival& arrival(std::size_t worker) const { return arrivals_[worker]; }

    const std::vector<WorkerInfo>& workers() const override { return workers_; }
    int groups() const override { return workers_.empty() ? 1 : workers_.back().group + 1; }
    const Support& support(Worker worker) override
    {
        return held_[static_cast<std::size_t>(worker)].first;
    }
    Values values(std::size_t handle) override
    {
        const auto& [support, numbers] = held_[handle];
        return {support, packed(numbers), {}};
    }

    Seconds now() const override { return 0; }
    void dispatch(const Dispatch&, PointList) override {}
    void close(Worker, TaskId) override {}
    std::vector<Arrival> wait(Seconds, const std::atomic<bool>&) override { return {}; }
    void change(const Change&) override {}
    std::vector<Change> changes(std::int64_t) override { return {}; }
    void reencode(std::shared_ptr<const Coding>, std::span<const Worker>) override {}
    void release(std::size_t) override {}
    std::int64_t bytes_sent() const override { return 0; }
    std::int64_t bytes_received() const override { return 0; }

private:
    std::vector<WorkerInfo> workers_;
    std::vector<std::pair<Support, NumberVector>> held_;
    std::deque<Arrival> arrivals_;
};

}  // namespace quorate::test
