// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <optional>

#include "compute/task_queue.hpp"
#include "data/shard.hpp"
#include "mpi/mailbox.hpp"
#include "mpi/messages.hpp"
#include "mpi/task_execution.hpp"
#include "scheme/coding.hpp"

namespace quorate {

/// What a worker's rank does from the start of a run to its farewell: computes tasks in chunks of rows and
/// looks at its mailbox in between, so that a newer task, a cancel or the end of the run interrupts
/// computation and delays alike.
class MpiWorker {
public:
    /// It idles until it is assigned.
    /// @param timeout  the coordinator is taken for dead when it is silent for ten times as long
    MpiWorker(const mpi::Comm& comm, const DataSet& data, const Computing& computing,
              MakeCoding make_coding, const StragglerModels& stragglers,
              const ByzantineWorkers& byzantine, Seconds timeout, Doorbells& bells);

    /// Loads what this worker of the coding for so many workers stores.
    void take(const Assignment& assignment);

    /// Until the coordinator says stop, whatever the worker is doing then. Local, but for its messages.
    /// @param leave  becomes true when the rank is asked to leave the run
    /// @return whether to call MPI_Finalize
    /// @throws Orphaned if the coordinator is gone
    bool run(const std::atomic<bool>& leave);

private:
    // A task as it came.
    struct Order {
        TaskId task;
        TaskMessage message;
        std::shared_ptr<mpi::Bytes> bytes;  // keeps alive what its operands look at
        TaskId id() const { return task; }
        bool follows() const { return message.after; }
        bool repeats() const { return message.repeat; }
    };

    void poll();
    void receive(const mpi::Transfer& message);
    void accept(const std::shared_ptr<mpi::Bytes>& bytes);
    void begin();
    void send_contribution();
    void stop_task();
    void clear();
    void give_notice();
    void evaluate(const mpi::Bytes& bytes);

    const mpi::Comm& comm_;
    const DataSet& data_;
    MakeCoding make_coding_;
    std::shared_ptr<const Coding> coding_;
    Mailbox mailbox_;
    WorkerContext context_;
    TaskQueue<Order> tasks_;
    std::optional<TaskExecution> execution_;  // of the running task
    bool stopped_ = false, finalize_ = true;
    std::optional<Seconds> asked_to_leave_;  // when
    bool has_left_ = false;
    std::int64_t count_ = 0;             // tasks begun that its own count keys
    std::optional<Seconds> idle_since_;  // none: before the first task
    Seconds idle_ = 0;
    std::optional<Shard> evaluation_;  // rows to score, after the run
};

}  // namespace quorate
