// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <deque>
#include <optional>

#include "compute/task_queue.hpp"
#include "data/shard.hpp"
#include "ranks/evaluation_team.hpp"
#include "ranks/mailbox.hpp"
#include "ranks/messages.hpp"
#include "ranks/node_leader.hpp"
#include "ranks/share_owner.hpp"
#include "ranks/state_copies.hpp"
#include "ranks/succession.hpp"
#include "ranks/task_execution.hpp"
#include "scheme/coding.hpp"
#include "straggler/downlink.hpp"

namespace quorate {

/// A rank that is not the coordinator, from the start of a run to its farewell. It computes tasks
/// in chunks of rows and looks at its mailbox in between, so that a newer task, a cancel or the end
/// of the run interrupts computation and delays alike. Local, but for its messages with the
/// coordinator.
class RankWorker {
public:
    /// The rank idles until it is assigned a worker. All that they refer to must outlive this
    /// object.
    /// @param make_coding  makes the scheme for a number of workers; tells what a worker stores
    /// @param own_share    runs the engine of a share, if this rank is to own one
    /// @param timeout      seconds; the coordinator is taken for dead when it is silent for ten
    ///                     times as long
    /// @param states       keeps what the rank is sent of the run's state
    RankWorker(transport::Endpoint& endpoint, const Scoring& scoring, const Computing& computing,
               MakeCoding make_coding, OwnShare own_share, const StragglerModels& stragglers,
               const ByzantineWorkers& byzantine, Seconds timeout, WorkerMemory& memory,
               StateCopies& states);

    /// Drops all tasks, loads the shard of a worker of the coding, and sends `ready`. Reads the
    /// worker's rows from the data set.
    /// @throws Orphaned if the coordinator dies meanwhile
    /// @throws BadInput if there is no coding for that many workers
    /// @throws Failure if there is no memory for contributions
    void take(const Assignment& assignment);
    /// Sends `ready` without loading anything: of a resumed run whose code is yet to be made for
    /// the workers that are there.
    void present();

    /// Works until the coordinator sends `stop`, whatever the worker is doing then, and says
    /// farewell. If the run goes back to its checkpoint, waits until it is known who is left.
    /// @param leave  becomes true when a signal asks the rank to leave the run
    /// @throws Orphaned if the coordinator is dead  @throws transport::Unreachable if it cannot be
    /// reached
    Ending run(const std::atomic<bool>& leave);
    /// The ranks that are left, ascending, if that is how the run ends.
    const std::vector<int>& left() const { return succession_.left(); }
    /// To be called when the coordinator is dead. As Succession::agree().
    std::vector<int> succeed();

private:
    // A task as it came; what TaskQueue asks of one.
    struct Order {
        TaskId task;
        TaskMessage message;
        LocalState local;
        TaskId id() const { return task; }
        bool follows() const { return message.control.follows(); }
        bool repeats() const { return message.control.repeat; }
    };

    // A task, or the last of those that are cancelled, on its way.
    struct Late {
        Seconds until;
        std::optional<TaskMessage> task;  // none: it is a cancel
        TaskId cancelled = -1;
    };

    bool shares_memory() const { return memory_.points.present() && memory_.read_here; }
    void say_ready(std::int64_t rows, Support support);
    void poll();
    void own(const transport::Message& message);
    void receive(const transport::Message& message);
    void accept(std::shared_ptr<transport::Bytes> bytes);
    void take_late(Seconds now);
    void take_task(TaskMessage message);
    void cancel(TaskId last);
    LocalPoint local_point(BorrowedBlocks& points, std::int64_t block);
    bool is_named(Version version);
    bool has_points(const Order& order) const;
    void take_point(const Delivered& point, int leader);
    void reserve_contributions();
    void begin();
    void send_contribution();
    void stop_task();
    void clear();
    void give_notice();
    void await_others();

    transport::Endpoint& endpoint_;
    Scoring scoring_;
    MakeCoding make_coding_;
    std::shared_ptr<const Coding> coding_;
    WorkerMemory& memory_;
    StateCopies& states_;
    Mailbox mailbox_;
    Succession succession_;
    WorkerContext context_;
    Downlink downlink_;
    std::deque<Late> late_;
    TaskQueue<Order> tasks_;
    OwnShare own_share_;
    NodeLeader leader_;
    EvaluationMember evaluation_;
    // Points that the leader of the node has handed out, and whose tasks are still to come.
    struct EarlyPoint {
        TaskId task;
        Version version;
        LocalPoint point;
    };
    std::vector<EarlyPoint> early_;
    std::map<int, BorrowedBlocks> leaders_points_;  // by rank of the leader
    TaskId newest_ = -1;                            // task that has come
    std::optional<TaskExecution> execution_;        // of the running task
    bool stopped_ = false;
    Ending ending_ = Ending::together;
    std::optional<Seconds> asked_to_leave_;  // when the signal was seen
    bool has_left_ = false;
    std::int64_t count_ = 0;             // tasks begun that are keyed by this count
    std::optional<Seconds> idle_since_;  // none: it has had no task yet
    Seconds idle_ = 0;                   // not yet told to the coordinator
    std::optional<ShareOwner> owner_;    // of a share of the parameters
};

}  // namespace quorate
