// SPDX-License-Identifier: BSD-2-Clause
// The engine joins a scheme and a fleet: it gives the scheme events and carries out its actions. It
// owns the points and the contributions in use, forms the estimates, has the optimisers make the
// updates, and writes the trace.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <set>

#include "base/numbered.hpp"
#include "engine/ascending.hpp"
#include "engine/cached_points.hpp"
#include "engine/churn_schedule.hpp"
#include "engine/estimates.hpp"
#include "engine/local_states.hpp"
#include "engine/membership_table.hpp"
#include "engine/points.hpp"
#include "engine/recorded_estimates.hpp"
#include "engine/renumbering.hpp"
#include "engine/snapshot.hpp"
#include "engine/sum_table.hpp"
#include "fleet/fleet.hpp"
#include "optimizer/optimizer.hpp"
#include "optimizer/schedule.hpp"
#include "scheme/scheme.hpp"
#include "trace/sink.hpp"

namespace quorate {

/// Which contributions the trace lists.
enum class Arrivals { all, used, none };

/// The scheme gives workers tasks for which they cannot keep what compressed contributions lack.
class NoMemory : public BadInput {
public:
    using BadInput::BadInput;
};

/// What the engine does when the workers that are left can give no estimate.
enum class OnLoss {
    reencode,  // makes the scheme again for them; where that is impossible, as stop
    wait,      // waits for workers that are to join; if none are, as stop
    stop       // ends the run with a Failure
};

/// What a run is to do, beside its scheme.
struct EngineOptions {
    std::int64_t rounds = 100;
    Schedule schedule = [](double) { return 1.0; };  // step sizes, by batches of samples seen
    std::int64_t evaluate_every =
        1;  // keep each model after every so many of its updates, and the last; 0: none
    Arrivals arrivals = Arrivals::all;
    bool weights = false;      // the trace has the weights of all terms of estimates
    ChurnSchedule churn = {};  // who leaves, dies and joins when
    OnLoss on_loss = OnLoss::stop;
    MakeCoding reencode = {};  // makes the scheme again; needed for OnLoss::reencode
    /// Whether the optimisers of local steps go on with their states, each in its worker.
    bool keeps_inner = false;
    /// Whether workers keep what compressed contributions lack (compute/compression.hpp).
    bool keeps_unsent = false;
    /// Whether tasks leave states in their workers (LocalState).
    bool keeps_states() const { return keeps_inner || keeps_unsent; }
    EstimateOptions estimates = {};
    PointMemory* point_memory = nullptr;  // where points lie; null: on the heap
};

/// What is shown of a round while a run goes on.
struct Progress {
    std::int64_t round;  // its number, from 1
    double loss;         // mean loss over the samples used, at the points used: an estimate
    Seconds time;        // of its update, on the fleet's clock
    int model;           // which the update was of
};

/// What an update was made of, to decide whether it was the last.
struct Update {
    std::int64_t round;      // its number, from 1
    double loss;             // as in Progress
    double step_size;        // 0: of a rule that searches a line, the model stays as it is
    ConstNumbers estimate;   // of the gradient of the mean loss; empty: a dry run
    const Point& at;         // the newest point before the update
    bool exhausted = false;  // rounding lets no further update lower the objective
};

/// Functions that the engine calls as a run goes on, on its own thread; all may be empty. They are
/// not called for the history of a resumed run.
struct Observer {
    std::function<void(const Progress&)> round = {};  // after each update
    /// Asked after each update: whether the run is done, although there are rounds left.
    std::function<bool(const Update&)> done = {};
    std::function<void(const trace::Arrival&)> arrival =
        {};  // for each contribution, once its use is known
    std::function<void(std::int64_t round, const Point&)> kept = {};  // for each model that is kept
    std::function<void(const std::string&)> note = {};  // notes of a scheme, and re-encoding
    /// For each worker that left, died, joined or is being replaced, with the running round.
    std::function<void(const Change&, std::int64_t round)> change = {};
    /// When a resumed run has gone through its history, and its workers have loaded their rows.
    std::function<void()> goes_on = {};
    /// After each update but the last, when the scheme has been told of it and before the engine
    /// waits for anything: what a checkpoint needs. Also when the run begins.
    std::function<void(Snapshot)> snapshot = {};
};

/// Runs one scheme on one fleet. Local; used by one thread, on the coordinator: only the fleet
/// communicates.
class Engine {
public:
    /// Prepares a run, whose first points are the models of the optimisers. Allocates vectors for
    /// the points and models of the run. Scheme, fleet, optimisers and trace must outlive the
    /// engine.
    /// @param optimizers  one for each model
    /// @param trace       receives the rows and the models that are kept
    Engine(const EngineOptions& options, Scheme& scheme, Fleet& fleet,
           std::span<const std::unique_ptr<Optimizer>> optimizers, trace::Sink& trace);

    /// Makes run() go on from where another run stood. It first goes through the history of that
    /// run, without computing anything. Call this before run().
    /// @param live  the fleet to go on with afterwards; nullptr: the engine's own fleet both
    ///              repeats the history and goes on. Of its workers those without a rank are gone;
    ///              if the others are not those that the code is for, the code is made for them
    void resume(Past past, Fleet* live);

    /// Has run() ask for its estimates what `make` makes of those that the engine would compute
    /// itself. They get all terms one by one, those of a table too. Call this before run().
    void replace_estimates(
        const std::function<std::unique_ptr<Estimates>(ComputedEstimates&)>& make);

    /// Runs until all rounds are done, or the observer says so, or `stop` is set. A round costs the
    /// coordinator O(used x support + p) for contributions used of so many elements and p
    /// parameters. They are summed in (worker, task, part) order, so that the order of arrival
    /// changes no bit.
    /// @return how many rounds are done, those of the history included
    /// @throws Failure if no estimate is possible any more, or one is not finite
    /// @throws NoMemory
    /// @throws std::logic_error if the scheme names a contribution that it does not have
    std::int64_t run(const std::atomic<bool>& stop, Observer observer);

private:
    // A contribution in use: its task is not closed, and every finished step that has used it has
    // kept it.
    struct Live {
        ContributionId id;
        Arrival arrival;
        std::int64_t event, round;  // the event with which it came, and the round running then
        double step;                // step size of descent
        Use use = {};
        std::int64_t last_use = 0;  // the last round whose step used it; 0: none yet
        bool spent = false;         // the step of that round does not keep it
        int slot = -1;              // of the table, which holds it; -1: none does
        std::int64_t sums = 0;      // of the table that steps had used when it came there
        bool gone = false;
    };
    // What open tasks that were given together ask for beside their plans. Its points live.
    struct Context {
        Versions inputs;
        std::shared_ptr<const std::vector<Operand>> operands;
        TaskControl control;
        std::size_t open = 0;  // tasks
    };
    // A task that the scheme has not closed.
    struct OpenTask {
        TaskId id;
        Worker worker;
        std::uint32_t context;       // in contexts_
        std::uint32_t parts;         // of the plan
        std::uint32_t received = 0;  // parts that have come
        std::shared_ptr<const Plan> plan;
        // Its contributions in use are among these; there are none before the first has come.
        ContributionId first = 0, last = -1;
        bool gone = false;
    };

    void run_rounds(const std::atomic<bool>& stop);
    void start(std::vector<Worker> active);
    bool give_events();
    void end_if_done(int model);
    void give(Event event);
    void fire_timer();
    bool nobody_can_answer() const;
    bool waits_for_workers() const;
    void reencode_or_fail();
    void reencode(const std::string& why);
    std::shared_ptr<const Coding> largest_coding(int workers) const;
    [[noreturn]] void fail(const std::string& why) const;
    void change(const std::vector<Change>& wanted);
    bool receive_changes();
    void receive(const std::vector<Change>& changes);
    void receive(const Change& change);
    void reset_states();
    void note_membership(trace::Change kind, std::int64_t worker);
    void hand_over(const Dispatch& task);
    void hand_over_again(const OpenTask& open);
    void take_snapshot();
    void end_of_history();
    void go_on_with(Fleet& live, Seconds ended, std::int64_t begun);
    void carry_out(Dispatch& dispatch);
    void carry_out(const Close& close);
    void carry_out(const Fill& fill);
    void carry_out(const Combine& combine);
    void tell_weights(const Step& step);
    void carry_out(const Step& step);
    std::vector<Summand> summands(const Step& step, bool one_by_one);
    std::vector<Summand> summands(const std::vector<Placed>& terms);
    void use(Live& one, bool keep);
    void use_table();
    void leave_table(Live& one);
    void drop_spent();
    Use use_of(const Live& one) const;
    trace::Arrival row(const Live& one) const
    {
        return row_of(one.arrival, one.event, one.round, use_of(one));
    }
    std::int64_t updates_at(Version version) const;
    SumTable::Totals totals_of(const Arrival& arrival) const;
    trace::Round summary(const Step& step, std::span<const Summand> placed,
                         std::span<const Summand> terms, SumTable* table);
    void carry_out(const SetTimer& timer);
    void carry_out(const Note& note);
    void carry_out(const Undecodable& undecodable);
    void receive(std::vector<Arrival> arrivals);
    std::size_t context_of(const Dispatch& task);
    bool answered(const OpenTask& open) const
    {
        return open.received == open.parts && !contexts_.at(open.context).control.repeat;
    }
    void fetch_ahead(Worker worker, TaskId task);
    Live& live(ContributionId id);
    Contribution describe(const Live& live);
    void finish(const Live& live);
    void lose_step(const std::string& why);
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
    bool updated_ = true;  // whether there was an update since the last snapshot

    // While a resumed run goes through its history, nothing is written, shown or computed. The
    // later_... are what it goes on with afterwards.
    std::unique_ptr<RecordedEstimates> history_;
    trace::NoSink nowhere_;
    trace::Sink* later_trace_ = nullptr;
    Observer later_observer_;
    Fleet* later_fleet_ = nullptr;

    VectorPool blanks_, kept_;  // for points, and for models that are kept
    Points points_;
    ComputedEstimates computed_;
    std::unique_ptr<Estimates> other_;  // in place of computed_; null: there are none
    Estimates* estimates_ = &computed_;
    Ascending<Live> live_;
    Ascending<OpenTask> open_;
    Numbered<Context> contexts_;
    std::optional<std::size_t> newest_context_;  // that of the last task; in use if it is open
    LocalStates local_;                          // of workers, if EngineOptions::keeps_states()
    CachedPoints cached_{points_};               // by workers, if keeps_cached_
    bool keeps_cached_ = false;                  // because snapshots are taken
    MembershipTable members_;
    std::vector<std::int64_t> counts_;      // by worker, its own count of tasks (own_count)
    Renumbering names_;                     // between the scheme's numbers and the run's
    std::shared_ptr<const Coding> coding_;  // the newest, if the run was re-encoded
    std::vector<Worker> coded_for_;         // the active workers when the scheme was started
    bool reencode_next_ = false;            // after the next step, for workers that have joined
    bool step_lost_ = false;                // the round is to begin anew (lose_step())
    std::int64_t workers_ = 0;              // that the run has had so far
    std::string undecodable_;               // why the scheme cannot go on; empty: it can
    bool quiescent_ = false;                // the scheme was told Quiescent since its last task
    TaskId next_task_ = 0;
    std::int64_t next_draw_ = 0;
    std::vector<Action> actions_;
    std::map<int, Seconds> timers_;  // that run, with the time at which they go off
    std::vector<Event> events_;      // that the scheme is told next
    Arrived told_;                   // empty: memory of the last such event
    ContributionId contributions_ = 0;
    std::int64_t event_ = 0, round_ = 0;
    std::int64_t changed_ = -1;            // the event that was the newest change of membership
    double batches_ = 0;                   // samples seen, in batches: what schedules count
    std::vector<std::int64_t> updates_;    // by model
    std::vector<std::int64_t> update_of_;  // by version, the updates of its model by then; only
                                           // if there are several models
    Seconds dispatched_ = 0;               // time of the last update: the running round's start
    std::int64_t bytes_sent_ = 0, bytes_received_ = 0;
    // Of the last update, until its scheme is told.
    struct {
        double loss = 0, step_size = 0;
        Point at = {};  // the newest point before
        bool kept = false;
    } last_;
    SumTable table_;
    std::int64_t table_sums_ = 0;         // steps that have used its sum
    std::vector<ContributionId> unused_;  // that have come into it since, and no step had used
    ContributionId first_spent_ = 0, last_spent_ = -1;  // all that are spent lie between
    bool has_combined_ = false;  // whether the scheme has sent a Combine in this round
    std::set<Worker> combined_;  // workers whose products this round has placed
};

}  // namespace quorate
