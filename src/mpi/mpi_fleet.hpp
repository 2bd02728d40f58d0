// SPDX-License-Identifier: BSD-2-Clause
// The coordinator's side of a fleet of MPI ranks.
#pragma once

#include <deque>
#include <functional>

#include "base/slots.hpp"
#include "data/data_set.hpp"
#include "fleet/fleet.hpp"
#include "mpi/backoff.hpp"
#include "mpi/evaluation.hpp"
#include "mpi/failure_detector.hpp"
#include "mpi/messages.hpp"
#include "mpi/mpi.hpp"

namespace quorate {

/// At most one send is in flight to each; a newer task
/// replaces one that waits. Nothing here ever waits for a worker that the caller does not need.
class MpiFleet final : public Fleet {
public:
    /// Waits until all workers have loaded their shards. Messages only; n of them.
    /// @param ranks    of each worker  @param standby  ranks that take the places of the dead
    /// @param idle     other ranks, which only wait for the end
    /// @param parameters  of the model  @param timeout  silence after which a rank is taken for dead
    MpiFleet(const mpi::Comm& comm, const std::vector<int>& ranks, std::vector<int> standby,
             std::vector<int> idle, std::int64_t parameters, Seconds timeout, Doorbells& bells);

    const std::vector<WorkerInfo>& workers() const override { return info_; }
    Seconds now() const override;
    void dispatch(const Dispatch& task, PointList inputs) override;
    void close(Worker worker, TaskId task) override;
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) override;
    void change(const Change& wanted) override;
    std::vector<Change> changes(std::int64_t) override { return std::exchange(changes_, {}); }
    void reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members) override;
    std::size_t adopt(Worker worker, std::vector<double> values, double loss) override;
    void set_clock(Seconds now, std::span<const std::int64_t> counts) override;
    Values values(std::size_t handle) override;
    void release(std::size_t handle) override;
    std::int64_t bytes_sent() const override { return bytes_sent_; }
    std::int64_t bytes_received() const override { return bytes_received_; }

    /// Whether a rank has died: MPI_Finalize would wait for it.
    bool has_dead_ranks() const { return has_dead_ranks_; }

    /// After the last round: scores models on all rows, all workers in parallel.
    /// @param next   the next few models; none when there are no more
    /// @param scored receives, in order, what is known of each
    /// @throws Lost if a worker dies meanwhile
    void evaluate(const DataSet& data, const Model& model,
                  const std::function<std::vector<Point>()>& next,
                  const std::function<void(const Scored&)>& scored);

    class Lost : public Failure {
    public:
        using Failure::Failure;
    };

    /// The end: all ranks are told to stop, whatever they are doing, and say farewell. The dead are not
    /// waited for.
    /// @param finalize  whether they are to call MPI_Finalize
    void finish(bool finalize);

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
    // Who a worker is: loading, at work or away; dead ones are not spoken to any more.
    enum class State { loading, here, away, dead };
    struct Unready {
        Dispatch task;
        PointList inputs;
    };
    struct Link {
        State state = State::loading;
        bool joins = false;            // replaces one that died
        std::vector<Unready> unready;  // asked while it was loading
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
        std::vector<double> adopted;  // instead of bytes
        Worker worker = 0;
        double loss = 0;
    };

    int rank(Worker worker) const { return info_[static_cast<std::size_t>(worker)].rank; }
    Worker worker_of(int rank) const { return worker_of_[static_cast<std::size_t>(rank)]; }
    Link& link(Worker worker) { return links_[static_cast<std::size_t>(worker)]; }
    void post();
    void post(Link& link, Worker worker);
    void clear(Link& link);
    void find_dead();
    /// Goes on until nobody loads rows any more. Contributions that come meanwhile are dropped.
    void settle();
    void ping(int rank);
    void mark_dead(Worker worker);
    void abandon(Link& link, int rank);
    void assign(Worker worker, Worker code_index);
    void send_aside(int rank, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);
    void take_note(const mpi::Transfer& mail);
    void be_ready(const mpi::Transfer& mail);
    std::vector<Worker> living() const;
    std::optional<mpi::Transfer> try_send(int rank, mpi::Tag tag,
                                          std::shared_ptr<mpi::Bytes> bytes);
    bool done(mpi::Transfer& transfer);
    std::shared_ptr<mpi::Bytes> bytes_for(SharedTask& shared, const Versions& held);
    void send(Link& link, Worker worker, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);
    bool progress();
    std::vector<Arrival> unpack(const mpi::Transfer& mail);
    /// The next message of that kind, out of turn; contributions that come meanwhile are dropped.
    mpi::Transfer next_of(mpi::Tag tag,
                          const std::function<bool(const mpi::Transfer&)>& wanted = {});
    void send_next(Worker worker, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);
    /// @throws Lost
    void look_after_scorers();
    std::vector<Support> begin_evaluation(const DataSet& data, std::int64_t parameters);
    void collect_scores(const DataSet& data, const Model& model, std::size_t models,
                        const std::vector<double>& labels,
                        const std::function<void(const Scored&)>& scored);

    const mpi::Comm& comm_;
    mpi::Pool pool_;
    Doorbells& bells_;
    Backoff backoff_{200e-6, &bells_};
    std::vector<WorkerInfo> info_;
    std::vector<Worker> worker_of_;  // by rank
    std::vector<Link> links_;
    std::vector<int> standby_;        // ranks that may replace a dead one
    std::vector<int> idle_;           // all that have none
    std::vector<Worker> code_index_;  // of each worker in the running coding; -1: none
    int coded_for_;                   // workers of that coding
    std::int64_t parameters_;
    FailureDetector detector_;
    Seconds checked_ = 0;  // when the dead were looked for last
    std::vector<mpi::Transfer> aside_, abandoned_;
    std::vector<Change> changes_;
    bool has_dead_ranks_ = false;
    std::size_t scorers_ = 0;        // workers that score models
    std::deque<Worker> queue_;       // those with orders waiting, in the order of dispatch
    std::vector<Worker> cancelled_;  // those to be told to drop tasks
    std::vector<std::shared_ptr<SharedTask>> fresh_;  // since the last post(): more may join them
    std::deque<mpi::Transfer> incoming_, arrived_;
    Slots<Slot> slots_;
    Seconds began_ = -1;
    std::int64_t bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace quorate
