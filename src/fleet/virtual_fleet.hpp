// SPDX-License-Identifier: BSD-2-Clause
// Simulated workers under a virtual clock, as a discrete-event simulation. Schemes and engine are
// the same as over MPI. How long a worker takes comes from models of delay, computation and
// network.
#pragma once

#include <deque>
#include <tuple>

#include "base/prefetch.hpp"
#include "base/slots.hpp"
#include "fleet/event_queue.hpp"
#include "fleet/network.hpp"
#include "fleet/simulated_worker.hpp"

namespace quorate {

/// How long simulated workers take. A task of R rows takes its delay and then R * row_time *
/// slowdown seconds.
struct VirtualTimes {
    StragglerModels stragglers;
    Network network;
    Seconds timeout = 0;   // from the death of a worker until it is noticed
    Seconds load_row = 0;  // to load a training row, after a re-encoding or for a dead worker
    int standby = 0;       // machines that take the places of the dead
};

/// Simulated workers, as the engine sees them. What the overrides do is said in fleet/fleet.hpp;
/// times are virtual seconds, and no call waits for real time. Local.
///
/// Events at the same time are taken in a fixed order: changes of membership, arrivals, messages
/// that workers complete, deadlines, deliveries to workers, cancels, workers that go on with their
/// next task; within one kind by worker and task. So an answer at the deadline counts, a worker
/// that is done at the moment when its task is replaced has answered, and a worker that repeats its
/// task begins with the point that has just come. An event costs O(1) (EventQueue).
class VirtualFleet final : public Fleet {
public:
    /// @param recipes  computes the contributions; must outlive this object, like the models in
    ///                 `times`
    VirtualFleet(Recipes& recipes, const VirtualTimes& times);
    VirtualFleet(const VirtualFleet&) = delete;  // workers refer to their models in it
    VirtualFleet& operator=(const VirtualFleet&) = delete;

    const std::vector<WorkerInfo>& workers() const override { return info_; }
    Seconds now() const override { return now_; }
    void dispatch(const Dispatch& task, PointList inputs) override;
    void close(Worker worker, TaskId task) override;
    /// @throws Failure if nothing can happen any more, because no worker computes and no timer
    ///         runs; or if a task ends with its time and rows take none
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) override;
    std::span<const Expected> expected() const override { return expected_; }
    void change(const Change& wanted) override;
    void add_points(std::map<Version, Point>& points) const override;
    std::vector<Change> changes(std::int64_t) override { return std::exchange(changes_, {}); }
    void reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members) override;
    void prepare(std::span<const std::size_t> handles) override { recipes_.prepare(handles); }
    const Support& support(Worker worker) override { return recipes_.support(worker); }
    Values values(std::size_t handle) override { return recipes_.values(handle); }
    std::uint64_t fingerprint(std::size_t handle) override
    {
        return recipes_.dry() ? handle : Fleet::fingerprint(handle);
    }
    void release(std::size_t handle) override { recipes_.release(handle); }
    std::int64_t bytes_sent() const override { return bytes_sent_; }
    std::int64_t bytes_received() const override { return bytes_received_; }

private:
    using Order = SimulatedWorker::Order;
    // A worker, and what the coordinator knows of it.
    struct alignas(cache_line) Link {
        SimulatedWorker worker;
        std::vector<Order> orders = {};  // tasks: those on the way, then those that wait to be sent
        std::uint32_t travelling = 0;    // how many are on the way
        bool queued = false;             // it stands in outbox_
        bool gone = false;
        Versions held = {};  // points that it holds: those of the task sent last
        Port port = {};      // to the coordinator, unless all share its port
        Seconds ready = 0;   // when it has loaded its rows

        bool waits() const { return orders.size() > travelling; }
        // The first task that waits to be sent.
        std::vector<Order>::iterator waiting() { return orders.begin() + travelling; }
    };
    // The kinds of events, in the order in which those at the same time are taken.
    enum class Kind : std::uint8_t {
        change,
        arrival,
        finished,
        delivery,
        cancel,
        again,
        port_free
    };
    struct Event {
        Seconds time;
        TaskId task;  // cancel: the last task to drop
        Worker worker;
        std::uint32_t what;  // finished, again: epoch; arrival: slot of the message; change: kind
        Kind kind;
        bool operator>(const Event& other) const
        {
            return std::tie(time, kind, worker, task, what) >
                   std::tie(other.time, other.kind, other.worker, other.task, other.what);
        }
    };

    Link& link(Worker worker) { return links_[static_cast<std::size_t>(worker)]; }
    // The first event. Notes and fetches those workers whose events come soon.
    const Event& first_event();
    void add_event(Seconds time, Kind kind, Worker worker, TaskId task, std::size_t what);
    // Carries out an event. @return the contributions that have arrived by it
    std::vector<Arrival> take(const Event& event);
    // Starts the sends that can start now, and cancels closed tasks. @return whether a task was
    // sent
    bool post();
    void send(Worker worker);
    void cancel(Worker worker, TaskId task);
    void deliver(Worker worker, std::vector<Order>::iterator order);
    void begin(Worker worker);
    std::vector<Arrival> finish(Worker worker);
    void join(Worker worker);
    void clear(Link& link);
    void notice(Worker worker, Change::Kind kind);
    // Seconds that a worker takes to load its shard.
    Seconds loading(Worker worker) const
    {
        return static_cast<double>(recipes_.rows(worker)) * times_.load_row;
    }

    Recipes& recipes_;
    VirtualTimes times_;
    std::vector<WorkerInfo> info_;
    std::vector<Link> links_;  // by worker
    std::vector<char> busy_;   // by worker, whether it may have tasks: most are known to have none
    std::deque<Worker> outbox_;  // workers with orders waiting, in the order of dispatch
    std::vector<std::pair<Worker, TaskId>> closed_;  // since the last post()
    Port sending_, receiving_;                       // the coordinator's, if it is shared
    Seconds wake_at_port_ = -1;                      // time of the newest port_free event
    EventQueue<Event> events_;
    std::vector<Expected> expected_;        // by the last wait()
    SharedTerms fresh_;                     // of the last task that was given since the last post()
    std::vector<Change> changes_;           // not yet told by changes()
    int standby_;                           // standby machines that are left
    int machines_used_;                     // how many machine numbers are given out
    Slots<std::vector<Arrival>> messages_;  // on their way to the coordinator
    Seconds now_ = 0;
    std::int64_t bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace quorate
