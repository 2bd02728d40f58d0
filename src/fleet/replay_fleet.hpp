// SPDX-License-Identifier: BSD-2-Clause
// Replays a run from its trace. Contributions come in the order and at the times that the trace
// records, and this process computes them. With the options and data of that run the iterates are
// equal bit by bit.
#pragma once

#include <map>
#include <set>

#include "fleet/recipes.hpp"
#include "trace/reader.hpp"

namespace quorate {

/// Returns for each worker of a recorded run the group in which its contributions were added up;
/// empty: there was one group.
std::vector<int> recorded_groups(const trace::Trace& trace);

/// The workers of a recorded run, as the engine sees them. What the overrides do is said in
/// fleet/fleet.hpp. Local.
class ReplayFleet final : public Fleet {
public:
    /// O(arrivals log arrivals) for the arrivals of the trace.
    /// @param recipes  computes the contributions; must outlive this object
    /// @param trace    lists all arrivals (`--trace-arrivals all`); the caller has checked that
    /// @param workers  that the run has had by its end, at least
    /// @param points   take the place of those that tasks give, where an engine has slices only
    ReplayFleet(Recipes& recipes, const trace::Trace& trace, std::size_t workers,
                std::map<Version, Point> points = {});

    const std::vector<WorkerInfo>& workers() const override { return info_; }
    int groups() const override { return groups_; }
    std::string aggregation() const override { return aggregation_; }
    Seconds now() const override { return now_; }
    void dispatch(const Dispatch& task, PointList inputs) override;
    void close(Worker worker, TaskId task) override;
    /// Returns at once with the next message of the trace.
    /// @throws Failure if that message does not fit what was dispatched, or if the trace has ended
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) override;
    void change(const Change&) override {}  // the trace holds the changes
    std::vector<Change> changes(std::int64_t event) override;
    bool joins() const override;
    bool resumes(std::int64_t event) const override;
    void reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members) override
    {
        recipes_.reencode(std::move(coding), members);
    }
    void forget_states() override { recipes_.forget_states(); }
    void prepare(std::span<const std::size_t> handles) override { recipes_.prepare(handles); }
    bool has_lost(std::int64_t event) const override { return lost_.contains(event); }
    const Support& support(Worker worker) override { return recipes_.support(worker); }
    Values values(std::size_t handle) override { return recipes_.values(handle); }
    void release(std::size_t handle) override { recipes_.release(handle); }
    std::int64_t bytes_sent() const override { return 0; }
    std::int64_t bytes_received() const override { return bytes_received_; }

private:
    // Whether the event of this number is such a change of membership, and still to come.
    bool is_next(std::int64_t event, trace::Change kind) const;
    [[noreturn]] void refuse(std::int64_t event, const std::string& why) const;

    Recipes& recipes_;
    std::map<Version, Point> whole_;
    std::vector<WorkerInfo> info_;
    int groups_ = 1;
    std::string aggregation_ = "flat";
    std::map<std::int64_t, std::vector<trace::Arrival>> messages_;  // by event
    std::map<std::int64_t, trace::Timer> timers_;                   // by event
    std::map<std::int64_t, trace::Membership> membership_;          // by event
    std::int64_t awaited_ = -1;    // the change for which the last wait() ended
    std::set<std::int64_t> lost_;  // events
    Arrival contribution(const trace::Arrival& row);
    CachedList cached_of(const Dispatch& task, const trace::Arrival& row);
    int items_of(const Dispatch& task, const trace::Arrival& row) const;

    std::map<TaskId, std::pair<Dispatch, PointList>> open_;
    // Of contributions that are sums of cached gradients: the versions of their items, by event and
    // part; the points of these versions; the last event that names each version.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<trace::ItemRow>> items_;
    std::map<Version, Point> points_;
    std::map<Version, std::int64_t> last_named_;
    Seconds now_ = 0;
    std::int64_t bytes_received_ = 0;
};

}  // namespace quorate
