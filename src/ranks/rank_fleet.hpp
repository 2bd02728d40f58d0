// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "compute/evaluation.hpp"
#include "ranks/arrived_values.hpp"
#include "ranks/evaluation_team.hpp"
#include "ranks/leaders.hpp"
#include "ranks/membership.hpp"
#include "ranks/share_lead.hpp"
#include "ranks/state_copies.hpp"
#include "ranks/task_post.hpp"

namespace quorate {

/// The workers of a run whose workers are ranks, processes or threads, as the engine sees them. It
/// joins what is known of them (Membership), the tasks for them (TaskPost), the leaders of their
/// nodes (Leaders), what they have computed (ArrivedValues), and those that score models
/// (EvaluationTeam): it receives the messages, tells those whom they concern, and waits. No call
/// waits for a worker whose answer the caller does not need. Local: all messages are point-to-
/// point, and only the coordinator has this object.
///
/// With aggregation by node the workers of other nodes get points from the leader of their node,
/// keep their contributions, and the leader adds them up when a step needs them.
class RankFleet final : public Fleet, public LiveEvaluation, private Membership::Listener {
public:
    /// Waits until every worker has loaded its shard or is dead. One message from each.
    /// @param endpoint, scoring, memory  what they refer to must outlive this object
    /// @param wire     what points and contributions are rounded to
    /// @param timeout  seconds of silence after which a rank is taken for dead
    RankFleet(transport::Endpoint& endpoint, FleetRanks ranks, const Scoring& scoring, Wire wire,
              std::shared_ptr<const Compressor> compressor, Seconds timeout,
              CoordinatorMemory& memory);

    /// Begins aggregation by node, before the first dispatch. A node whose workers cannot read each
    /// other's memory, or that has only one, goes on without. Two messages from each worker.
    /// @param groups         of each worker, the group in which its contributions are added up; its
    ///                       workers must be on one node for that node to do it
    /// @param contributions  for each rank but 0, where it writes them
    void aggregate(std::span<const int> groups, std::vector<SharedAddress> contributions);

    /// Begins to share the parameters out among the hosts, before the first dispatch: this process
    /// then has share 0, and an engine on each other host, in a worker's process, does what the
    /// engine here does. Five messages with each worker or owner.
    /// @param groups         of each worker, that of its host
    /// @param contributions  for each rank but 0, where it writes them
    /// @param step           --step, as it was chosen
    /// @param past           as ShareLead::deal() wants it
    /// @throws BadInput if a host cannot share memory, or there are too few parameters
    void share(std::span<const int> groups, std::span<const SharedAddress> contributions,
               const std::string& step, const TellPast& past);
    /// How many shares there are; 1: this process has all.
    std::int64_t shares() const
    {
        return shares_.present() ? std::ssize(shares_.shares().ranks) : 1;
    }
    /// Sets what keeps the parts of the run's state that this rank is sent. It must outlive this
    /// object.
    void keep_states(StateCopies& states) { states_ = &states; }
    /// Tells the other owners to make their parts of the state after the last update.
    void begin_state(std::int64_t round);
    /// Whether all parts of the state that was begun last are kept by two ranks; true if none was.
    /// If the worker that was to keep the copy has died, nothing more is expected of that state.
    bool has_whole_state();
    /// Keeps a piece of the coordinator's part.
    void keep_state(std::shared_ptr<transport::Bytes> piece);
    /// Sends a piece of it to another rank, which keeps it: to the owner of the next share, or else
    /// to a worker, of another host if there is one.
    void send_state(std::shared_ptr<transport::Bytes> piece);
    /// For messages.
    transport::Pool& pool() { return mailbox_.pool(); }
    /// The first parameter of this process's share, and how many there are; none: it has all.
    std::optional<std::pair<std::size_t, std::size_t>> own_share() const;

    // What these do is said in fleet/fleet.hpp.
    const std::vector<WorkerInfo>& workers() const override { return membership_.workers(); }
    int groups() const override { return shares_.present() ? shares_.groups() : leaders_.groups(); }
    std::string aggregation() const override
    {
        return shares_.present() ? "shares" : Fleet::aggregation();
    }
    std::vector<std::optional<Values>> sums(std::span<const std::vector<Weighted>> groups) override;
    void sum_of_blocks(std::span<const double> blocks, std::span<double> sums,
                       bool decides) override;
    trace::Sink& join_models(trace::Record& whole) override;
    void join_vectors(const std::vector<StateVector>& vectors, const TakePiece& take) override;
    void end_models(std::span<const ConstNumbers> models, trace::Record& record) override;
    void fired(int timer) override;
    const Support& support(Worker worker) override
    {
        return shares_.present() ? shares_.share().support(worker)
                                 : *membership_.loaded(worker).support;
    }
    Losses losses(std::size_t handle) override { return values_.losses(handle); }
    PointMemory* point_memory() override;
    /// Seconds on the monotonic clock since the first dispatch.
    Seconds now() const override;
    void dispatch(const Dispatch& task, PointList inputs) override;
    void close(Worker worker, TaskId task) override;
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) override;
    void change(const Change& wanted) override { membership_.change(wanted); }
    std::vector<Change> changes(std::int64_t) override;
    void reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members) override;
    /// Drops contributions that come meanwhile.
    void load() override;
    std::size_t adopt(Worker worker, const Values& values) override;
    void set_clock(Seconds now, std::span<const std::int64_t> counts) override;
    Values values(std::size_t handle) override { return values_.values(handle); }
    void release(std::size_t handle) override { values_.release(handle); }
    /// Bytes of tasks, cancels and points, and those of what workers read in shared memory instead,
    /// as if it had travelled. Models to score and short messages that do not wait for these
    /// (pings, assignments, the end) are not counted.
    /// Where parameters are shared out, those of all owners' slices are among them.
    std::int64_t bytes_sent() const override
    {
        return mailbox_.bytes_sent() + (shares_.present() ? shares_.share().points_sent() : 0);
    }
    std::int64_t bytes_received() const override
    {
        return values_.bytes_received() + (shares_.present() ? shares_.share().sums_received() : 0);
    }

    /// Sends a copy of the model to the spare rank, which scores it on all rows, if that rank has
    /// nothing to do and is not dead. O(parameters).
    bool offer(std::int64_t round, const Point& model) override;
    /// Nobody waits for the scores of a spare rank that is dead.
    void collect(const TakeLive& scored, bool all) override;
    bool has_ended() override { return mailbox_.detector().is_dead(membership_.spare()); }
    /// Scores models on all rows after the last round; all living workers share the rows. Standby
    /// ranks take no places any more from here on. Models are sent one batch ahead of the scores.
    /// If a worker dies, the rest is scored in this process.
    void evaluate(const NextModels& next, const TakeScored& scored);

    /// Ends the run: tells all ranks to stop, whatever they are doing, and waits for the farewell
    /// of each one that is not dead. If they go on together, this also waits until the last
    /// messages have left.
    /// @return the ranks that are left, this one included, ascending
    std::vector<int> finish(Ending ending);
    /// As CoordinatorMailbox has them.
    bool has_dead_ranks() const { return mailbox_.has_dead_ranks(); }
    bool has_lost_ranks() const { return mailbox_.has_lost_ranks(); }

private:
    void forgets(Worker worker) override;
    void has_loaded(Worker worker) override;
    void has_died(Worker worker, bool replaced) override;
    void is_back(Worker worker) override { leaders_.is_back(worker); }

    void post();
    bool progress();
    bool tell_changes();
    template <class Done, class Take>
    void receive_until(const Done& done, const Take& take);
    std::vector<Arrival> arrivals_of(const ArrivedMessage& message);
    EvaluationTeam team_of(const std::vector<int>& ranks);
    std::vector<Worker> choose_scorers() const;
    int choose_keeper() const;
    bool has_keeper();
    void state_is_kept(const StatePart& part);

    transport::Endpoint& endpoint_;
    Scoring scoring_;
    CoordinatorMemory& memory_;
    CoordinatorMailbox mailbox_;
    Membership membership_;
    Leaders leaders_;
    TaskPost tasks_;
    ArrivedValues values_;
    ShareLead shares_;
    StateCopies* states_ = nullptr;
    std::int64_t state_ = -1, missing_ = 0;  // the newest state: after which round, parts
    int keeper_ = 0;                         // rank that keeps its copy; 0: none
    std::vector<Change> told_;               // changes that the owners of shares were told of
    std::deque<ArrivedMessage> arrived_;     // messages that nobody has taken yet
    std::optional<EvaluationTeam>
        spare_;                 // the rank that scores as the run goes on, once it is used
    std::int64_t offered_ = 0;  // the round of the model that it scores
    Seconds began_ = -1;        // clock_seconds() at the first dispatch; negative: not yet
};

}  // namespace quorate
