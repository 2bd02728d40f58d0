// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ranks/host_memory.hpp"
#include "ranks/leaders.hpp"
#include "ranks/membership.hpp"

namespace quorate {

/// The tasks that wait to be sent to workers, and the cancels. At most one is being sent to each
/// worker, and a newer task replaces one that waits. Never waits. Local.
class TaskPost {
public:
    /// All references must outlive this object.
    TaskPost(CoordinatorMailbox& mailbox, const Membership& membership, Leaders& leaders,
             CoordinatorMemory& memory, Wire wire)
        : mailbox_(mailbox), membership_(membership), leaders_(leaders), memory_(memory),
          wire_(wire), boxes_(membership.workers().size())
    {
    }

    /// From here on no task brings points: the owners of shares hand them out.
    void leave_points() { brings_points_ = false; }
    /// Takes a task, as Fleet::dispatch() does.
    void dispatch(const Dispatch& task, PointList inputs);
    /// Has a worker drop a task.
    void close(Worker worker, TaskId task);
    /// Forgets all tasks of a worker.
    void forget(Worker worker);
    /// Takes the tasks that were given to a worker while it was loading.
    void has_loaded(Worker worker);
    /// Nothing that is on its way to the worker matters any more.
    void has_died(Worker worker) { of(worker).sending = {}; }
    /// Starts the sends that can start now. Rings no bell.
    void send();
    /// When a task that was answered was sent, by clock_seconds(); none: it was forgotten. Those
    /// before are forgotten now.
    std::optional<Seconds> sent_at(Worker worker, TaskId task);

private:
    // Tasks that differ only in worker and number. They travel as the same bytes.
    struct SharedTask {
        TaskMessage message;
        std::shared_ptr<const Plan> plan;
        PointList points;
        std::shared_ptr<const Support> support;
        std::vector<std::pair<std::vector<TaskMessage::Travel>, std::shared_ptr<transport::Bytes>>>
            encoded;  // the bytes, for each choice of how the inputs travel
    };
    struct Order {
        TaskId task;
        std::shared_ptr<SharedTask> shared;
    };
    // What is for one worker.
    struct Box {
        std::vector<std::pair<Dispatch, PointList>> unready;  // given while it was loading
        std::deque<Order> waiting;
        bool queued = false;        // it stands in queue_
        transport::Ticket sending;  // of the message sent last
        Versions known;  // points that the worker surely has: those of the task sent last
        std::deque<std::pair<TaskId, Seconds>>
            sent;  // tasks from the newest one that was answered on, and when they were sent
        TaskId cancel = -1;  // tell the worker to drop tasks up to this one; -1: nothing to tell
    };

    Box& of(Worker worker) { return boxes_[static_cast<std::size_t>(worker)]; }
    std::shared_ptr<SharedTask> shared(const Dispatch& task, PointList inputs);
    void send_next(Worker worker);
    void send_task(Worker worker, TaskId task, SharedTask& shared);
    TaskMessage::Travel travel(Worker worker, Version version, const Point& point);

    CoordinatorMailbox& mailbox_;
    const Membership& membership_;
    Leaders& leaders_;
    CoordinatorMemory& memory_;
    Wire wire_;
    bool brings_points_ = true;
    std::vector<Box> boxes_;         // by worker
    std::deque<Worker> queue_;       // workers with orders waiting, in the order of dispatch
    std::vector<Worker> cancelled_;  // workers that are to be told to drop tasks
    // Made since the last send(), so that further workers may share them.
    std::vector<std::shared_ptr<SharedTask>> fresh_;
};

}  // namespace quorate
