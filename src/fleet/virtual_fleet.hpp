// SPDX-License-Identifier: BSD-2-Clause
// Simulated workers under a virtual clock, as a discrete-event simulation. Schemes and engine are
// the same as over MPI. How long a worker takes comes from models of delay, computation and
// network.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "base/numbered.hpp"
#include "base/prefetch.hpp"
#include "fleet/event_queue.hpp"
#include "fleet/links.hpp"
#include "fleet/network.hpp"
#include "fleet/share_steps.hpp"
#include "fleet/simulated_worker.hpp"

namespace quorate {

/// How long simulated workers take. A task of R rows takes its delay and then R * (row_time *
/// slowdown + row delay) seconds.
struct VirtualTimes {
    StragglerModels stragglers;
    Network network;
    Seconds timeout = 0;     // from the death of a worker until it is noticed
    Seconds load_row = 0;    // to load a training row, after a re-encoding or for a dead worker
    int standby = 0;         // machines that take the places of the dead
    std::uint64_t seed = 0;  // key of the order of events at the same time
};

/// Where a simulated worker is. The coordinator is on the host of worker 0.
struct VirtualPlace {
    int rank;  // as over MPI; it is the key of the worker's delays
    std::string host;
};

/// Simulated workers, as the engine sees them. What the overrides do is said in fleet/fleet.hpp;
/// times are virtual seconds, and no call waits for real time. Local.
///
/// Events at the same time are taken in a fixed order: changes of membership, arrivals, messages
/// that workers complete, deadlines, deliveries to workers, cancels, workers that go on with their
/// next task; within one kind in a random order, keyed by worker and task, so that none of equal
/// workers is always the last. So an answer at the deadline counts, a worker
/// that is done at the moment when its task is replaced has answered, and a worker that repeats its
/// task begins with the point that has just come. An event costs O(1) (EventQueue).
class VirtualFleet final : public Fleet {
public:
    /// @param recipes  computes the contributions; must outlive this object, like the models in
    ///                 `times`
    /// @param places   of the workers; empty: every worker is at the other end of the network
    VirtualFleet(Recipes& recipes, const VirtualTimes& times,
                 const std::vector<VirtualPlace>& places = {});
    VirtualFleet(const VirtualFleet&) = delete;  // workers refer to their models in it
    VirtualFleet& operator=(const VirtualFleet&) = delete;

    /// Begins aggregation by node, before the first dispatch. Every node but the coordinator's that
    /// has several workers gets each point once, keeps its contributions and adds them up: the
    /// `sums` then take time, in which workers go on.
    /// @param groups  of each worker, its node: the number of its host in the order of workers
    void aggregate(std::span<const int> groups);
    /// The same, but every node adds up and updates a share of the parameters (ShareSteps), and no
    /// point passes through the coordinator. Only with several nodes.
    void share(std::span<const int> groups);

    const std::vector<WorkerInfo>& workers() const override { return info_; }
    int groups() const override { return groups_; }
    std::string aggregation() const override { return shares_ ? "shares" : Fleet::aggregation(); }
    /// Has the leaders of nodes add up, and waits for their answers. The leader is the first worker
    /// of its node that is not dead; the others of the node lend it their memory even when they
    /// are.
    /// @throws LostContributions if all are dead
    std::vector<std::optional<Values>> sums(std::span<const std::vector<Weighted>> groups) override;
    Seconds now() const override { return now_; }
    void dispatch(const Dispatch& task, PointList inputs) override;
    void close(Worker worker, TaskId task) override;
    /// @throws Failure if nothing can happen any more, because no worker computes and no timer
    ///         runs; or if a task ends with its time and rows take none
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) override;
    std::span<const Expected> expected() const override { return expected_; }
    void change(const Change& wanted) override;
    std::vector<Change> changes(std::int64_t) override { return std::exchange(changes_, {}); }
    void reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members) override;
    void forget_states() override { recipes_.forget_states(); }
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
    static constexpr std::int64_t header_bytes =
        64;  // about what a message over MPI has beside its payload
    static constexpr Version no_point = -1;
    using Order = SimulatedWorker::Order;
    // A worker, and what the coordinator knows of it.
    struct alignas(cache_line) Link {
        // Bytes from the beginning that finish() mostly looks at. With many workers that is memory
        // which no cache holds.
        static constexpr std::size_t read_by_finish =
            sizeof(SimulatedWorker) + sizeof(std::vector<Order>);

        SimulatedWorker worker;
        std::vector<Order> orders = {};  // tasks: those on the way, then those that wait to be sent
        std::uint32_t travelling = 0;    // how many are on the way
        bool queued = false;             // it stands in outbox_
        bool leaving = false;            // where links are shared: a task is leaving for it
        bool gone = false;
        bool dead = false, noticed = false;  // its machine; and whether that has been noticed
        bool replaced = false;  // by a standby machine, which is on no node that adds up
        Versions points = {};   // that it has: those of the task sent last
        Port port = {};         // to the coordinator, unless links or its port are shared
        Seconds ready = 0;      // when it has loaded its rows

        bool waits() const { return orders.size() > travelling; }
        // The first task that waits to be sent.
        std::vector<Order>::iterator waiting() { return orders.begin() + travelling; }
        // The task of that number among those on the way; waiting(): there is none.
        std::vector<Order>::iterator on_the_way(TaskId task)
        {
            return std::find_if(orders.begin(), waiting(),
                                [task](const Order& one) { return one.id() == task; });
        }
    };
    // The kinds of events, in the order in which those at the same time are taken.
    enum class Kind : std::uint8_t {
        change,
        added,   // the leader of a node has added up contributions
        shared,  // a message of a step over shares is there
        left,    // messages have left their links
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
        // finished, again: epoch; added, shared, arrival: number of the message; change: kind;
        // delivery: whether the task has been late
        std::uint32_t what;
        Kind kind;
        std::uint32_t turn;  // among events of its kind at the same time
        bool operator>(const Event& other) const
        {
            return std::tie(time, kind, turn, worker, task, what) >
                   std::tie(other.time, other.kind, other.turn, other.worker, other.task,
                            other.what);
        }
    };

    // A message to the coordinator.
    struct Message {
        std::vector<Arrival> arrivals;  // none: it is a sum
        std::int64_t bytes;
        Seconds complete;  // when the worker had computed it
    };
    // A message on its way through shared links.
    struct Passing {
        // What happens when it is there. Times are seconds after that.
        boost::container::small_vector<Event, 1> then;
        // Who waits to send until it has left: nobody, a worker's next task, or the next message
        // with points and tasks of nodes.
        enum class Holds : std::uint8_t { nothing, worker, nodes } holds;
        Worker worker;
    };
    // A host.
    struct Node {
        std::vector<Worker> workers = {};
        bool adds_up = false;                // the contributions of its workers stay there
        bool queued = false;                 // it stands in served_
        std::map<Version, int> points = {};  // that it has, with the number of workers that do
        std::int64_t payload = 0;  // bytes of a vector at the union of the supports; 0: not known
        Version arriving = no_point;  // the point that is on its way to it in pieces
        std::int64_t sent = 0;        // bytes of it that have been sent
        // With shares: tasks of its workers whose points it does not have, as they came; workers
        // whose contributions the last step used, and bytes of their sum for each share.
        std::vector<std::pair<Worker, TaskId>> held = {};
        std::vector<Worker> used = {};
        std::vector<std::int64_t> used_bytes = {};
    };
    // A message of a step, while it is on its way.
    struct ShareMessage {
        std::shared_ptr<ShareSteps> of;
        ShareSteps::Message message;
    };

    Link& link(Worker worker) { return links_[static_cast<std::size_t>(worker)]; }
    // The first event. Notes and fetches those workers whose events come soon.
    const Event& first_event();
    Event new_event(Seconds time, Kind kind, Worker worker, TaskId task,
                    std::size_t what = 0) const;
    void add_event(Seconds time, Kind kind, Worker worker, TaskId task, std::size_t what)
    {
        events_.push(new_event(time, kind, worker, task, what));
    }
    // Carries out an event. @return the contributions that have arrived by it
    std::vector<Arrival> take(const Event& event);
    // Starts the sends that can start now, and cancels closed tasks. @return whether a task was
    // sent
    bool post();
    void send(Worker worker);
    bool send_to_node(Node& node);
    bool is_named(const Node& node, Version version);
    Version missing_point(const Node& node);
    bool hand_out(Node& node);
    // Sends a message to a worker through shared links, or where messages take no time, nothing.
    void pass_out(Worker worker, std::int64_t bytes, Passing passing);
    void pass(int from, int to, std::int64_t bytes, Passing passing);
    void leave(std::size_t number);
    void expect_to_leave();
    // Sends a message to the coordinator, from where the worker is.
    void pass_in(Worker worker, TaskId task, std::size_t number);
    void note_points(Worker worker, const Versions& versions);
    int node_of(Worker worker) const { return node_of_[static_cast<std::size_t>(worker)]; }
    Node& node(int number) { return nodes_[static_cast<std::size_t>(number)]; }
    bool is_near(Worker worker) const { return !nodes_.empty() && node_of(worker) == 0; }
    // Whether messages with this worker take no time.
    bool is_free(Worker worker) const { return times_.network.free() || is_near(worker); }
    // The node that adds up what this worker contributes; null: none does.
    Node* adding_node(Worker worker);
    std::int64_t payload(Node& node);
    void order_sum(Node& node, std::span<const Weighted> terms);
    void set_groups(std::span<const int> groups);
    static std::vector<Worker> workers_of(std::span<const Weighted> terms);
    Seconds adding(std::span<const Weighted> terms) const;
    void deal_shares();
    std::vector<std::int64_t> bytes_of_shares(const Support& support) const;
    void carry(const ShareSteps::Messages& messages);
    void receive_shared(std::size_t number);
    int rank_of_leader(int host);
    void tell(const std::vector<Arrival>& arrivals);
    void begin_step(std::span<const std::vector<Weighted>> groups);
    std::int64_t step_of(const Order& order) const;
    void note_made(const Versions& versions);
    void hold(Worker worker, TaskId task);
    void begin_held(Node& host);
    // Whether a worker's memory is at its node, so that it can lead it.
    bool can_lead(Worker worker) const
    {
        const auto& one = links_[static_cast<std::size_t>(worker)];
        return !one.dead && !one.replaced;
    }
    void cancel(Worker worker, TaskId task);
    void arrive(Worker worker, TaskId task);
    bool hold_back(Worker worker, const Order& order);
    void receive(Worker worker, TaskId task);
    void deliver(Worker worker, std::vector<Order>::iterator order);
    void begin(Worker worker);
    std::vector<Arrival> finish(Worker worker);
    void join(Worker worker);
    void clear(Worker worker);
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
    // Who has orders waiting that go through the network, in the order of dispatch.
    std::deque<Worker> outbox_;
    std::deque<Worker> near_;   // likewise, workers that are near the coordinator
    std::deque<int> served_;    // likewise, nodes that add up
    int to_nodes_ = 0;          // messages with points and tasks that are leaving for nodes
    std::vector<int> node_of_;  // by worker; none: nobody knows where workers are
    std::vector<Node> nodes_;   // the first one is the coordinator's
    Links links_of_nodes_;      // of the coordinator, rank 0 there, and workers, from 1
    Numbered<Passing> passing_;
    Seconds expected_to_leave_ = never;   // time of the newest `left` event
    std::shared_ptr<ShareSteps> shares_;  // null: there are none
    std::vector<std::int64_t> bounds_;    // of shares
    Numbered<ShareMessage> share_messages_;
    std::map<Version, std::int64_t> made_;  // the steps that made points, which hosts may lack
    Seconds told_ = -1;                     // when hosts were last told of contributions
    int groups_ = 1;
    std::int64_t awaited_ = 0;  // sums that are under way
    // Messages that have come while sums were under way.
    std::deque<std::vector<Arrival>> inbox_;
    std::vector<std::pair<Worker, TaskId>> closed_;  // since the last post()
    Port sending_, receiving_;   // the coordinator's, if it is shared, and nobody knows of nodes
    Seconds wake_at_port_ = -1;  // time of the newest port_free event
    EventQueue<Event> events_;
    std::vector<Expected> expected_;  // by the last wait()
    SharedTaskContext fresh_;         // of the last task that was given since the last post()
    std::vector<Change> changes_;     // not yet told by changes()
    int standby_;                     // standby machines that are left
    int machines_used_;               // how many machine numbers are given out
    Numbered<Message> messages_;      // on their way to the coordinator
    Seconds now_ = 0;
    std::int64_t bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace quorate
