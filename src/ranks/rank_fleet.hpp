// SPDX-License-Identifier: BSD-2-Clause
// The coordinator's side of a fleet of ranks, processes or threads: it sends tasks, receives
// contributions, and finds out which ranks have died. fleet_changes.cpp holds what concerns
// membership, fleet_nodes.cpp what concerns aggregation by node, fleet_scoring.cpp what concerns the
// scoring of models.
#pragma once

#include <deque>
#include <functional>

#include "base/slots.hpp"
#include "data/data_set.hpp"
#include "fleet/fleet.hpp"
#include "ranks/evaluation.hpp"
#include "ranks/failure_detector.hpp"
#include "ranks/host_memory.hpp"
#include "ranks/messages.hpp"
#include "ranks/node_messages.hpp"

namespace quorate {

/// The workers of a run whose workers are ranks, as the engine sees them. At most one task is being
/// sent to each worker; a newer task replaces one that waits to be sent. No call waits for a worker
/// whose answer the caller does not need. Local: all messages are point-to-point, and only the
/// coordinator has this object. A rank to or from which a message fails is dead. With aggregation by node the workers of other nodes get points from the leader of their
/// node, keep their contributions, and the leader adds them up when a step needs them.
class RankFleet final : public Fleet {
public:
    /// Waits until every worker has loaded its shard or is dead. One message from each.
    /// @param endpoint, memory  must outlive this object
    /// @param ranks        for each worker, its rank; -1: it is gone, and no rank is that worker
    /// @param standby      ranks that take the places of workers that die
    /// @param idle         other ranks, which only wait for the end
    /// @param parameters   number of parameters of the model
    /// @param wire         what points and contributions are rounded to
    /// @param timeout      seconds of silence after which a rank is taken for dead
    RankFleet(transport::Endpoint& endpoint, const std::vector<int>& ranks,
              std::vector<int> standby, std::vector<int> idle, std::int64_t parameters, Wire wire,
              Seconds timeout, CoordinatorMemory& memory);

    /// Begins aggregation by node, before the first dispatch. A node whose workers cannot read each
    /// other's memory, or that has only one, goes on without. Two messages from each worker.
    /// @param groups         of each worker, the group in which its contributions are added up; its
    ///                       workers must be on one node for that node to do it
    /// @param contributions  for each rank but 0, where it writes them
    void aggregate(std::span<const int> groups, std::span<const SharedAddress> contributions);

    // What these do is said in fleet/fleet.hpp.
    const std::vector<WorkerInfo>& workers() const override { return info_; }
    int groups() const override { return groups_; }
    std::vector<std::optional<Values>> sums(std::span<const std::vector<Weighted>> groups) override;
    const Support& support(Worker worker) override { return *link(worker).loaded.support; }
    Losses losses(std::size_t handle) override { return slots_.at(handle).losses; }
    PointMemory* point_memory() override;
    /// Seconds on the monotonic clock since the first dispatch.
    Seconds now() const override;
    void dispatch(const Dispatch& task, PointList inputs) override;
    void close(Worker worker, TaskId task) override;
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) override;
    void change(const Change& wanted) override;
    std::vector<Change> changes(std::int64_t) override { return std::exchange(changes_, {}); }
    void reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members) override;
    void load() override { settle(); }
    std::size_t adopt(Worker worker, const Values& values) override;
    void set_clock(Seconds now, std::span<const std::int64_t> counts) override;
    Values values(std::size_t handle) override;
    void release(std::size_t handle) override;
    /// Bytes of tasks, cancels and models to score, and those of what workers read in shared memory
    /// instead, as if it had travelled.
    /// Short messages that do not wait for these (pings, assignments, the end) are not counted.
    std::int64_t bytes_sent() const override { return bytes_sent_; }
    std::int64_t bytes_received() const override { return bytes_received_; }

    /// Whether a worker or a standby rank has died. A collective call would wait for it for ever.
    bool has_dead_ranks() const { return has_dead_ranks_; }
    /// Whether a rank is dead whose process nobody has seen end: its host may be gone.
    bool has_lost_ranks() const { return has_lost_ranks_; }

    /// Scores models on all rows after the last round; all living workers share the rows. Standby
    /// ranks take no places any more from here on. Models are sent one batch ahead of the scores.
    /// @param next    gives the next models, a few at a time; none: there are no more
    /// @param scored  called for each model in order
    /// @throws Lost if a worker dies before all models are scored
    void evaluate(const DataSet& data, const Model& model,
                  const std::function<std::vector<Point>()>& next,
                  const std::function<void(const Scored&)>& scored);

    /// A worker died while it was needed to score models.
    class Lost : public Failure {
    public:
        using Failure::Failure;
    };

    /// Ends the run: tells all ranks to stop, whatever they are doing, and waits for the farewell
    /// of each one that is not dead.
    /// @param finalize  whether all ranks are going to end together, as in MPI_Finalize; then this
    ///                  also waits until the last messages have left
    void finish(bool finalize);

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
    // A message that has come. Where a contribution has its values in shared memory, their owner, which
    // gives them back when it ends; null in it: only the leader of the node reads them.
    struct Came : transport::Message {
        std::shared_ptr<const double> values = {};
    };
    // Whether a worker takes part, has left, or is dead. A dead one gets no messages.
    enum class State { here, away, dead };
    // What the coordinator knows of one worker.
    struct Link {
        State state = State::here;
        ShardNumber shard = 0;  // that it was told to load last
        bool loading = true;    // it has not said yet that it has that one
        bool joins = false;     // it takes the place of a worker that died when it has loaded
        bool leaves = false;    // it has given notice; that counts once it has loaded its shard
        std::vector<std::pair<Dispatch, PointList>> unready;  // given while it was loading
        Touched loaded = {};  // the shard that it has, or had before it was to load another
        std::deque<Order> waiting;
        bool queued = false;        // it stands in queue_
        transport::Ticket sending;  // of the message sent last
        Versions held;  // points that the worker surely holds: those of the task sent last
        std::deque<std::pair<TaskId, Seconds>>
            sent;  // tasks from the newest one that was answered on, and when they were sent
        TaskId cancel = -1;  // tell the worker to drop tasks up to this one; -1: nothing to tell
    };
    // A contribution: a view of its message, or of shared memory; or it lies at its node.
    struct Slot {
        std::shared_ptr<const void> owner;
        Packed packed;
        std::vector<double> adopted;  // the values, if they came by adopt() and not in a message
        Touched of = {};              // the shard it was made for; no support: it has no values
        Losses losses = {};
        // Where it lies at its node: numbers first..first+length-1 of this block; 0: it does not.
        std::int64_t block = 0, first = 0, length = 0;
    };
    // A point that the leader of a node has handed out, or is to, for a task that is not closed.
    struct HandedOut {
        Worker worker;
        ShardNumber shard;
        TaskId task;
        Version version;
        Point point;
        bool told = false;  // the leader has been told
    };
    // A node with a leader: one of its workers, that hands out points and adds up contributions.
    struct Node {
        std::vector<Worker> workers = {};
        bool meets = false;                           // its workers read what each other writes
        Worker leader = -1;                           // -1: there is none
        bool knows_supports = false;                  // the leader knows the present ones
        std::int64_t lead = 0;                        // the message that told it
        std::shared_ptr<const Support> touched = {};  // their union
        std::vector<Version> points = {};             // that the leader has
        Version arriving = -1;  // the point of which it has the first `sent` numbers; -1: none
        std::size_t sent = 0;
        std::vector<HandedOut> handed_out = {};
        std::vector<Worker> replaced = {};           // by ranks that may be on any node
        std::int64_t request = 0;                    // for a sum, the last one
        std::shared_ptr<const Support> summed = {};  // at which it is
        std::optional<transport::Message> sum = {};  // the answer
    };

    int rank(Worker worker) const { return info_[static_cast<std::size_t>(worker)].rank; }
    Worker worker_of(int rank) const { return worker_of_[static_cast<std::size_t>(rank)]; }
    Link& link(Worker worker) { return links_[static_cast<std::size_t>(worker)]; }
    // Starts the sends that can start now.
    void post();
    void post(Link& link, Worker worker);
    // Forgets all tasks of a worker, and the points that the leader of its node has for them.
    void clear(Worker worker);
    // Whether a rank is dead; remembers it.
    bool has_died(int rank);
    // Pings silent ranks and marks dead ones, every 20 ms at most.
    void find_dead();
    // Waits until no worker loads rows any more. Drops contributions that come meanwhile.
    void settle();
    // The node that a worker belonged to when the run began; null: there is no aggregation.
    Node* first_node_of(Worker worker);
    // The node that a worker belongs to, if it has a leader; else null.
    Node* node_of(Worker worker);
    bool all_meet(const Node& node, std::span<const SharedAddress> contributions);
    void appoint_leader(Node& node);
    void lead_again(Worker worker);
    void tell_supports(Node& node);
    void tell_released();
    void tell_leaders();
    bool enough_under_way();
    bool has_stalled();
    void send_piece(Node& node, Version version, std::span<const double> point);
    void hand_out(Node& node, Version version);
    bool take_sum(transport::Message& message);
    [[noreturn]] void lose(const Node& node) const;
    void ask_for_sum(Node& node, std::span<const Weighted> terms);
    bool is_at_node(const Weighted& term) const { return slots_.at(term.handle).block != 0; }
    void send_to_leader(const Node& node, transport::Tag tag,
                        std::shared_ptr<transport::Bytes> bytes);
    void ping(int rank);
    void mark_dead(Worker worker);
    void assign(Worker worker, Worker code_index);
    // Sends a short message at once, beside the one send of tasks.
    void send_aside(int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes);
    // Keeps membership up to date with a message that has come.
    void take_note(const transport::Message& message);
    // Takes the `ready` of a rank that has loaded its shard.
    void be_ready(const transport::Message& message);
    std::vector<Worker> living() const;
    // Sends a task. Its message is made once for equal workers.
    void send_task(Link& link, Worker worker, TaskId task, SharedTask& shared);
    // How an input of a task comes to a worker.
    TaskMessage::Travel travel(const Link& link, Worker worker, Version version,
                               const Point& point);
    void send(Link& link, Worker worker, transport::Tag tag,
              std::shared_ptr<transport::Bytes> bytes);
    // Receives what has come into arrived_. @return whether a message has come
    bool progress();
    // As progress(), and sleeps if no message has come.
    void progress_or_wait();
    Came came(transport::Message message);
    std::vector<Arrival> unpack(const Came& message);
    // Waits for the next message with this tag that is wanted. Drops other messages but scores.
    // @throws Lost
    transport::Message next_of(transport::Tag tag,
                               const std::function<bool(const transport::Message&)>& wanted = {});
    // Waits until the last send to the worker has completed, and sends. @throws Lost
    void send_next(Worker worker, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes);
    // Looks for messages and for dead workers, and sleeps if there is no message. @throws Lost
    void look_after_scorers();
    // Which of the scorers has sent a message.
    std::size_t number_of_scorer(const transport::Message& message) const;
    // Of each scorer, the parameters that its rows touch.
    std::vector<Support> begin_evaluation(const DataSet& data, std::int64_t parameters);
    void collect_scores(const DataSet& data, const Model& model, std::size_t models,
                        const std::vector<double>& labels,
                        const std::function<void(const Scored&)>& scored);

    transport::Endpoint& endpoint_;
    CoordinatorMemory& memory_;
    // What leaders are to be told of: contributions at their nodes that nobody here needs any more.
    // Messages and slots add to it when they end.
    std::vector<KeptBlock> released_;
    std::vector<WorkerInfo> info_;
    std::vector<Worker> worker_of_;  // by rank
    std::vector<Link> links_;
    std::vector<int> standby_;        // ranks that may replace a dead one
    std::vector<int> idle_;           // ranks that never become workers
    std::vector<Worker> code_index_;  // of each worker in the running coding; -1: not part of it
    int coded_for_;                   // number of workers of that coding
    ShardNumber shards_ = 0;          // the number of its shards
    std::int64_t parameters_;
    Wire wire_;
    FailureDetector detector_;
    Seconds checked_ = 0;  // when the dead were looked for last
    std::vector<Change> changes_;
    bool has_dead_ranks_ = false, has_lost_ranks_ = false;
    std::vector<Worker> scorers_;    // workers that score models
    std::deque<Worker> queue_;       // workers with orders waiting, in the order of dispatch
    std::vector<Worker> cancelled_;  // workers that are to be told to drop tasks
    std::vector<std::shared_ptr<SharedTask>>
        fresh_;  // made since the last post(), so that further workers may share them
    std::deque<Came> arrived_;
    int groups_ = 1;
    std::vector<Node> nodes_;    // by group
    std::int64_t requests_ = 0;  // for sums, so far
    std::int64_t leads_ = 0;     // messages that told leaders of supports, so far
    std::size_t turn_ = 0;       // the node that gets points next
    // Pieces of points on their way to leaders, and since when; how long the slowest took.
    std::vector<std::pair<Seconds, transport::Ticket>> pieces_;
    Seconds piece_takes_ = 0.01;
    Slots<Slot> slots_;
    Seconds began_ = -1;  // clock_seconds() at the first dispatch; negative: not yet
    std::int64_t bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace quorate
