// SPDX-License-Identifier: BSD-2-Clause
// The coordinator's side of a fleet of MPI ranks.
#pragma once

#include <deque>
#include <functional>

#include "base/slots.hpp"
#include "data/data_set.hpp"
#include "fleet/evaluation.hpp"
#include "fleet/fleet.hpp"
#include "fleet/messages.hpp"
#include "fleet/mpi.hpp"
#include "fleet/patience.hpp"

namespace quorate {

/// At most one send is in flight to each; a newer task
/// replaces one that waits. Nothing here ever waits for a worker that the caller does not need.
class MpiFleet final : public Fleet {
public:
    /// Waits until all workers have loaded their shards. Messages only; n of them.
    /// @param ranks  of each worker  @param parameters  of the model
    MpiFleet(const mpi::Comm& comm, const std::vector<int>& ranks, std::int64_t parameters,
             Doorbells& bells);

    const std::vector<WorkerInfo>& workers() const override { return info_; }
    Seconds now() const override;
    void dispatch(const Dispatch& task, PointList inputs) override;
    void close(Worker worker, TaskId task) override;
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) override;
    Values values(std::size_t handle) override;
    void release(std::size_t handle) override;
    std::int64_t bytes_sent() const override { return bytes_sent_; }
    std::int64_t bytes_received() const override { return bytes_received_; }

    /// After the last round: scores models on all rows, all workers in parallel.
    /// @param next   the next few models; none when there are no more
    /// @param scored receives, in order, what is known of each
    void evaluate(const DataSet& data, const Model& model,
                  const std::function<std::vector<Point>()>& next,
                  const std::function<void(const Scored&)>& scored);

    /// The end: every worker is told to stop, whatever it is doing, and says farewell.
    void finish();

private:
    // Tasks that are the same but for worker and number, and travel as the same bytes.
    struct SharedTask {
        TaskMessage message;
        std::shared_ptr<const Plan> plan;
        PointList points;
        const Support* support;
        std::vector<std::pair<std::vector<bool>, std::shared_ptr<mpi::Bytes>>>
            encoded;  // by inputs included
    };
    struct Order {
        TaskId task;
        std::shared_ptr<SharedTask> shared;
    };
    struct Link {
        std::shared_ptr<const Support> support;
        std::deque<Order> waiting;
        bool queued = false;  // stands in queue_
        std::optional<mpi::Transfer> sending;
        Versions held;  // points that the worker surely holds: those of the task sent last
        std::deque<std::pair<TaskId, Seconds>> sent;  // tasks not yet answered in full, and when
        TaskId cancel = -1;  // tasks up to this one are to be dropped; -1: nothing to say
    };
    struct Slot {
        std::shared_ptr<mpi::Bytes> bytes;
        std::span<const double> packed;
        Worker worker = 0;
        double loss = 0;
    };

    int rank(Worker worker) const { return info_[static_cast<std::size_t>(worker)].rank; }
    Worker worker_of(int rank) const { return worker_of_[static_cast<std::size_t>(rank)]; }
    void post();
    void post(Link& link, Worker worker);
    std::shared_ptr<mpi::Bytes> bytes_for(SharedTask& shared, const Versions& held);
    void send(Link& link, Worker worker, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);
    bool progress();
    std::vector<Arrival> unpack(const mpi::Transfer& mail);
    /// The next message of that kind, out of turn; contributions that come meanwhile are dropped.
    mpi::Transfer next_of(mpi::Tag tag,
                          const std::function<bool(const mpi::Transfer&)>& wanted = {});
    void send_next(std::size_t worker, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);
    std::vector<Support> begin_evaluation(const DataSet& data, std::int64_t parameters);
    void collect_scores(const DataSet& data, const Model& model, std::size_t models,
                        const std::vector<double>& labels,
                        const std::function<void(const Scored&)>& scored);

    const mpi::Comm& comm_;
    mpi::Pool pool_;
    Doorbells& bells_;
    Patience patience_{200e-6, &bells_};
    std::vector<WorkerInfo> info_;
    std::vector<Worker> worker_of_;  // by rank
    std::vector<Link> links_;
    std::deque<Worker> queue_;       // those with orders waiting, in the order of dispatch
    std::vector<Worker> cancelled_;  // those to be told to drop tasks
    std::vector<std::shared_ptr<SharedTask>> fresh_;  // since the last post(): more may join them
    std::deque<mpi::Transfer> incoming_, arrived_;
    Slots<Slot> slots_;
    Seconds began_ = -1;
    std::int64_t bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace quorate
