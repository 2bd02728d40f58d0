// SPDX-License-Identifier: BSD-2-Clause
// Joins a scheme and a fleet: events in, actions out. It owns the points, the contributions that are
// alive and the optimiser, forms the estimates, and writes the trace.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <set>

#include "engine/churn_schedule.hpp"
#include "engine/estimates.hpp"
#include "engine/membership_table.hpp"
#include "engine/points.hpp"
#include "engine/recorded_estimates.hpp"
#include "engine/renumbering.hpp"
#include "engine/snapshot.hpp"
#include "fleet/fleet.hpp"
#include "optimizer/optimizer.hpp"
#include "optimizer/schedule.hpp"
#include "scheme/scheme.hpp"
#include "trace/sink.hpp"

namespace quorate {

/// Which contributions the trace lists.
enum class Arrivals { all, used, none };

/// What to do when those who are left can give no estimate: the scheme is made anew for them, or
/// workers are waited for that are to join, or the run ends.
enum class OnLoss { reencode, wait, stop };

struct EngineOptions {
    std::int64_t rounds = 100;
    Schedule schedule = [](double) { return 1.0; };  // step sizes
    std::int64_t evaluate_every =
        1;  // keep the model of every so many rounds, and the last; 0: none
    Arrivals arrivals = Arrivals::all;
    ChurnSchedule membership = {};  // who leaves and joins when
    OnLoss on_loss = OnLoss::stop;
    MakeCoding reencode = {};
    EstimateOptions estimates = {};
};

/// What is shown of a round while a run goes on.
struct Progress {
    std::int64_t round;
    double loss;  // mean loss over the samples used, at the points used: an estimate
    Seconds time;
    int model;
};

/// Who watches a run; all may be empty.
struct Observer {
    std::function<void(const Progress&)> round = {};  // after each update
    std::function<void(const trace::Arrival&)> arrival =
        {};  // each contribution, once its use is known
    std::function<void(std::int64_t round, const Point&)> kept = {};  // each model that is kept
    std::function<void(const std::string&)> note = {};                // what a scheme says
    /// A worker that left, died, came, or is being replaced, and the round that was running.
    std::function<void(const Change&, std::int64_t round)> change = {};
    /// Where the run stands, before anything else happens after an update.
    std::function<void(Snapshot)> snapshot = {};
};

class Engine {
public:
    /// @param optimizers  one for each model
    Engine(const EngineOptions& options, Scheme& scheme, Fleet& fleet,
           std::span<const std::unique_ptr<Optimizer>> optimizers, trace::Sink& trace);

    /// The run begins where another one stood: before run().
    /// @param live  the fleet to go on with, if the history is not that of the engine's own fleet
    void resume(Past past, Fleet* live);

    /// Runs until all rounds are done or `stop` is set. Per round: one dispatch a worker at most,
    /// contributions summed in (worker, task, part) order, O(used x support + p).
    /// @return rounds done
    /// @throws Failure if no estimate is possible any more
    std::int64_t run(const std::atomic<bool>& stop, Observer observer);

private:
    struct Live {
        ContributionId id;
        Arrival arrival;
        std::int64_t event, round;  // with which it came, and that was running then
        double step;                // of descent
        std::int64_t used = 0;      // the round whose step used it; 0: none yet
        trace::Arrival row() const { return row_of(arrival, event, round, used); }
    };
    struct OpenTask {
        Dispatch task;
        std::size_t received = 0;  // parts that have come
        TaskId id() const { return task.task; }
        bool answered() const
        {
            return !task.control.repeat && received == task.plan->parts.size();
        }
    };

    void run_rounds(const std::atomic<bool>& stop);
    void start(std::vector<Worker> active);
    bool give_events();
    void give(const Event& event);
    void fire_timer();
    bool nobody_can_answer() const;
    bool waits_for_workers() const;
    void reencode();
    std::shared_ptr<const Coding> largest_coding(int workers) const;
    [[noreturn]] void fail(const std::string& why) const;
    void change(const std::vector<Change>& wanted);
    bool receive_changes();
    void receive(const Change& change);
    void note_membership(trace::Change kind, std::int64_t worker);
    void hand_over(const OpenTask& open);
    void take_snapshot();
    void end_of_history();
    void go_on_with(Fleet& live);
    void carry_out(const Dispatch& dispatch);
    void carry_out(const Close& close);
    void carry_out(const Combine& combine);
    void carry_out(const Step& step);
    std::vector<Summand> summands(const std::vector<Term>& terms);
    std::vector<Summand> summands(const std::vector<Placed>& terms);
    trace::Round summary(const Step& step, std::span<const Summand> terms);
    void carry_out(const SetTimer& timer);
    void carry_out(const Note& note);
    void carry_out(const Undecodable& undecodable);
    void receive(const std::vector<Arrival>& arrivals);
    OpenTask* open_task(TaskId task);
    Live& live(ContributionId id);
    Contribution describe(const Live& live);
    std::int64_t staleness(Version version, int model) const;
    void finish(const Live& live);
    void keep_model(int number);
    void record(const Live& live);
    static std::vector<trace::ItemRow> items_of(const Live& live);
    Seconds next_timer() const;

    EngineOptions options_;
    Scheme* scheme_;
    Needs needs_;
    Fleet* fleet_;
    std::span<const std::unique_ptr<Optimizer>> optimizers_;
    trace::Sink* trace_;
    Observer observer_;
    bool updated_ = true;  // since the last snapshot

    // While a resumed run goes through its history, nothing is written, shown or computed. What it
    // goes on with afterwards:
    std::unique_ptr<RecordedEstimates> history_;
    trace::NoSink nowhere_;
    trace::Sink* later_trace_ = nullptr;
    Observer later_observer_;
    Fleet* later_fleet_ = nullptr;

    Points points_;
    ComputedEstimates computed_;
    Estimates* estimates_ = &computed_;
    std::vector<Live> live_;      // contributions not closed, ascending by id
    std::vector<OpenTask> open_;  // tasks not closed, ascending
    MembershipTable members_;
    std::vector<std::int64_t> counts_;      // of each worker's tasks that its own count keys
    Renumbering names_;                     // between the scheme and the run
    std::shared_ptr<const Coding> coding_;  // the newest, if the run was re-encoded
    std::vector<Worker> coded_for_;         // who was there then
    bool reencode_next_ = false;            // at the next step, for those who have joined
    std::string undecodable_;               // why the scheme cannot go on
    bool quiescent_ = false;                // the scheme was told that nobody can answer
    TaskId next_task_ = 0;
    std::int64_t next_draw_ = 0;
    std::vector<Action> actions_;
    std::map<int, Seconds> timers_;
    std::vector<Event> events_;  // that the last actions caused, to be given to the scheme next
    ContributionId contributions_ = 0;
    std::int64_t event_ = 0, round_ = 0;
    double batches_ = 0;                   // samples seen, in batches: what schedules count
    std::vector<std::int64_t> updates_;    // of each model
    std::vector<std::int64_t> update_of_;  // of each version, the updates of its model till then
    Seconds dispatched_ = 0;               // when the running round was dispatched
    std::int64_t bytes_sent_ = 0, bytes_received_ = 0;
    double loss_ = 0;
    bool has_combined_ = false;  // in this round
    std::set<Worker> combined_;  // workers whose products were
};

}  // namespace quorate
