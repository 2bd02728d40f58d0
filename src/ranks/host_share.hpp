// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ranks/share_messages.hpp"
#include "ranks/slices_of_points.hpp"
#include "transport/message.hpp"

namespace quorate {

/// What the owner of a share does for its host and exchanges with the other owners. Its host's
/// workers read points in memory that it fills with the slices of all owners. Of their
/// contributions it forms the sum, and sends each owner that one's slice. All owners carry out the
/// same actions of the same scheme in the same order: so each knows what the others send, and in
/// which order. Never waits. Local; of one thread.
class HostShare {
public:
    using Send =
        std::function<void(int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes)>;
    /// @param wire       what points and sums are rounded to
    /// @param precision  of points and contributions in memory
    /// @param readers    how many readers the memory of points has: the ranks of the run
    /// @param gone       whether the process of such a rank has ended
    /// @param pool       for messages; must outlive this object
    HostShare(Ownership ownership, Wire wire, Precision precision, int readers,
              std::function<bool(int)> gone, transport::Pool& pool, Send send);

    const Ownership& ownership() const { return own_; }
    /// The parameters of the share that a worker's rows touch, numbered from its first.
    const Support& support(Worker worker) const { return *of(worker).part; }
    /// The code was made again: takes what workers have now. No task is open.
    void reencode(std::vector<ShareWorker> workers);
    /// How many groups of workers there are, one for each host with workers.
    int groups() const { return groups_; }
    /// Where the slices of points have to lie; null: this host has no workers, and anywhere will
    /// do. It lives as long as this object.
    PointMemory* point_memory() { return memory_.present() ? &memory_ : nullptr; }

    /// Takes a task that the scheme gives a worker: send_points() then sends the share's slices of
    /// the points that the worker's host does not have. Hands them out if it is a worker of this
    /// host.
    /// @param inputs  slices of the share, of the points that the task names, in point_memory()
    void dispatch(const Dispatch& task, const PointList& inputs);
    /// To be called when the tasks of a moment were given out.
    void send_points();
    /// A worker needs nothing any more for a task, or for any.
    void forget(Worker worker, std::optional<TaskId> task = std::nullopt);
    /// Takes a message of another owner. @return whether it was for this object
    bool take(transport::Message& message);

    /// Adds up the contributions of this host, and sends each other owner its slice.
    /// @param groups  of each, the contributions, in the order of summation
    /// @param values  returns those of a contribution of this host, of all parameters
    void begin_sums(std::span<const std::vector<Weighted>> groups,
                    const std::function<Values(std::size_t handle)>& values);
    /// Whether the slices of all hosts have come.
    bool has_sums() const;
    /// The sums of the groups that have any, of the share. Valid until begin_sums().
    /// @throws Failure if another owner has added up other terms
    std::vector<std::optional<Values>> sums() const;

    /// Tells the coordinator, or all owners, what the blocks of this share add to a scalar.
    void report(std::span<const double> blocks, bool decides);
    /// Whether the sums of all shares have come.
    bool has_reports() const;
    /// The sums over all shares, block after block.
    void total(std::span<double> sums) const;

    /// Bytes of slices of points that all owners have told of, and of slices of sums.
    std::int64_t points_sent() const { return points_sent_; }
    std::int64_t sums_received() const { return sums_received_; }

private:
    // A point that workers of some host need.
    struct Arriving {
        std::weak_ptr<const NumberVector> slice =
            {};                   // of this share; its end is that of the point
        std::set<int> sent = {};  // groups
        double* block = nullptr;  // of the whole point, for this host
        std::size_t missing = 0;  // slices of it
        std::vector<Delivery> waiting = {};
        bool begun() const { return block != nullptr; }
    };
    const ShareWorker& of(Worker worker) const
    {
        return own_.workers[static_cast<std::size_t>(worker)];
    }
    void take_supports();
    std::size_t share() const { return static_cast<std::size_t>(own_.share); }
    std::size_t owner_of(int group) const;
    void send_point(Version version, const NumberVector& slice, std::size_t to);
    std::size_t behind(std::size_t share) const;
    void begin(Arriving& point, const NumberVector& slice);
    void deliver(const Arriving& point, Version version, const Delivery& to);
    void drop_points();
    void take_point(const std::shared_ptr<transport::Bytes>& bytes);
    void take_early();
    std::shared_ptr<const Support> union_of_used(std::span<const Weighted> terms,
                                                 std::shared_ptr<const Support> ShareWorker::*of);
    void drop_unions();

    Ownership own_;
    Wire wire_;
    Precision precision_;
    int readers_;
    transport::Pool& pool_;
    Send send_;
    int groups_ = 0;
    std::vector<Support> here_;    // of each share, what this host touches
    std::vector<Support> others_;  // of each group, what its host touches of this share
    SlicesOfPoints memory_;
    std::map<Version, Arriving> points_;
    struct ToSend {
        Version version;
        Point slice;
        std::size_t to;  // share of the owner
    };
    std::vector<ToSend> to_send_;
    std::int64_t codings_ = 0;  // that were made again
    // Slices of points for a code that this owner does not have yet, or of points.
    std::vector<std::shared_ptr<transport::Bytes>> early_;
    NumberVector sum_;                     // of this host
    std::int64_t sums_ = 0, reports_ = 0;  // so far
    std::uint64_t terms_ = 0;              // of the sum, as SumSlice has it
    std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<transport::Bytes>>
        slices_;  // by number and group
    // By group, at which parameters of the share its sum is; null: it has no terms.
    std::vector<std::shared_ptr<const Support>> forming_;
    std::map<std::int64_t, std::map<std::int64_t, std::vector<double>>> blocks_;  // number, share
    // Unions of the supports of the workers in the last sums, by these.
    std::map<std::pair<bool, std::vector<Worker>>, std::shared_ptr<const Support>> unions_;
    std::int64_t own_points_ = 0, own_sums_ = 0;  // bytes since the last report
    std::int64_t points_sent_ = 0, sums_received_ = 0;
};

}  // namespace quorate
