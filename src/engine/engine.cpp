// SPDX-License-Identifier: BSD-2-Clause
#include "engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "base/error.hpp"
#include "compute/cached_gradients.hpp"

namespace quorate {

namespace {

// The points that are alive at a time in all runs: the newest one, and the next.
constexpr std::size_t points_alive = 2;

// Returns how many vectors a run allocates in advance for the models that may wait in memory until
// the trace has written them.
std::size_t kept_in_memory(const EngineOptions& options, ConstNumbers model)
{
    const auto kept = options.evaluate_every > 0 ? options.rounds / options.evaluate_every : 0;
    // A dry run has models without numbers.
    const auto bytes = std::max<std::size_t>(1, model.size()) * bytes_of(model.precision());
    const auto most = static_cast<std::int64_t>(trace::iterates_in_memory / bytes);
    return static_cast<std::size_t>(std::min(kept, most));
}

// Forgets what workers store, which the engine leaves to its fleet.
void drop_storage(Needs& needs)
{
    // Assigning {} would keep their memory.
    needs.blocks = std::vector<Block>();
    needs.shard = std::vector<std::vector<int>>();
    needs.coded = std::vector<CodedBlock>();
    needs.coded_columns = std::vector<CodedBlock>();
}

}  // namespace

Engine::Engine(const EngineOptions& options, Scheme& scheme, Fleet& fleet,
               std::span<const std::unique_ptr<Optimizer>> optimizers, trace::Sink& trace)
    : options_(options), scheme_(&scheme), needs_(scheme.needs()), fleet_(&fleet),
      optimizers_(optimizers), trace_(&trace),
      blanks_(optimizers[0]->model(), points_alive, options.point_memory),
      kept_(optimizers[0]->model(), kept_in_memory(options, optimizers[0]->model())),
      computed_(options.estimates, needs_, points_, optimizers[0]->model()),
      members_(fleet.workers().size()), counts_(fleet.workers().size()),
      names_(static_cast<Worker>(needs_.shard.size())), workers_(std::ssize(needs_.shard)),
      updates_(optimizers.size()), table_(needs_.slots)
{
    drop_storage(needs_);
    // Others join when the run is resumed.
    for (auto later = static_cast<Worker>(workers_); later < std::ssize(members_); ++later)
        members_.set(later, MembershipTable::Status::away);
    for (std::size_t model = 0; model < optimizers.size(); ++model) {
        auto initial = blanks_.blank();
        copy(optimizers[model]->model(), *initial);
        round(options.estimates.wire, *initial);
        points_.publish(std::move(initial), static_cast<int>(model));
        if (optimizers.size() > 1) update_of_.push_back(0);
    }
}

void Engine::replace_estimates(
    const std::function<std::unique_ptr<Estimates>(ComputedEstimates&)>& make)
{
    other_ = make(computed_);
    estimates_ = other_.get();
}

std::int64_t Engine::run(const std::atomic<bool>& stop, Observer observer)
{
    keeps_cached_ = observer.snapshot != nullptr;
    (history_ ? later_observer_ : observer_) = std::move(observer);
    run_rounds(stop);
    live_.for_each([this](const Live& one) { finish(one); });
    live_.clear();
    return round_;
}

void Engine::start(std::vector<Worker> active)
{
    coded_for_ = active;
    for (auto& worker : active) worker = names_.scheme_of(worker);
    std::erase(active, -1);  // workers that the new code leaves idle
    events_.push_back(Start{std::move(active)});
}

void Engine::run_rounds(const std::atomic<bool>& stop)
{
    auto& plan = options_.churn;
    const std::atomic<bool> unstopped = false;  // in the history a stop would save nothing
    for (const auto worker : members_.all(MembershipTable::Status::active))
        trace_->add(
            trace::Membership{event_, 0, worker, static_cast<std::int64_t>(trace::Change::joined)});
    start(members_.all(MembershipTable::Status::active));
    while (!stop || history_) {
        if (give_events()) return;
        if (std::exchange(step_lost_, false)) {
            // Also for the same workers, if standby ranks have taken the places of those that had
            // the contributions: a new code begins without any.
            reencode(std::string(undecodable_));
            continue;
        }
        if (history_ && event_ >= history_->past().event) {
            end_of_history();
            if (!events_.empty()) continue;
        } else if (std::exchange(updated_, false) && observer_.snapshot) {
            take_snapshot();
        }
        if (fleet_->resumes(event_ + 1)) {
            receive_changes();
            continue;
        }
        // A simulation that was resumed before repeats all of its history but this.
        if (history_ && history_->past().resets.contains(event_ + 1 + (event_ == changed_))) {
            reset_states();
            continue;
        }
        if (undecodable_.empty() && nobody_can_answer() && !std::exchange(quiescent_, true)) {
            events_.push_back(Quiescent{});
            continue;
        }
        if (nobody_can_answer() && !waits_for_workers()) {
            reencode_or_fail();
            continue;
        }
        const auto until = std::min(next_timer(), plan.next());
        auto arrivals = fleet_->wait(until, history_ ? unstopped : stop);
        for (const auto& [worker, task] : fleet_->expected()) fetch_ahead(worker, task);
        if (!arrivals.empty())
            receive(std::move(arrivals));
        else if (receive_changes())
            continue;
        else if (fleet_->now() >= plan.next())
            change(plan.due(fleet_->now()));
        else if (fleet_->now() >= next_timer())
            fire_timer();
    }
}

// Tells the scheme all events that are due, and carries out its actions, which may cause more
// events.
// @return whether all rounds are done
bool Engine::give_events()
{
    while (!events_.empty() && !step_lost_) {
        auto event = std::move(events_.front());
        events_.erase(events_.begin());
        if (const auto* stepped = std::get_if<Stepped>(&event)) {
            if (observer_.round) observer_.round({round_, last_.loss, dispatched_, stepped->model});
            end_if_done(stepped->model);
            if (round_ >= options_.rounds) return true;
            if (std::exchange(reencode_next_, false) &&
                members_.all(MembershipTable::Status::active) != coded_for_) {
                reencode("workers have joined");
                continue;
            }
        }
        give(std::move(event));
    }
    return false;
}

// Makes this round the last one if the observer says so.
void Engine::end_if_done(int model)
{
    if (!observer_.done || !last_.at) return;
    const auto at = std::exchange(last_.at, nullptr);
    const auto& optimizer = *optimizers_[static_cast<std::size_t>(model)];
    if (!observer_.done(
            {round_, last_.loss, last_.step_size, computed_.estimate(), at, optimizer.exhausted()}))
        return;
    options_.rounds = round_;
    if (options_.evaluate_every > 0 && !last_.kept) keep_model(model);
}

void Engine::give(Event event)
{
    actions_.clear();
    // What the scheme could not do without this worker it may do now.
    if (std::holds_alternative<WorkerJoined>(event)) undecodable_.clear();
    names_.to_scheme(event);
    scheme_->handle(event, fleet_->now(), actions_);
    if (auto* arrived = std::get_if<Arrived>(&event)) {
        told_ = std::move(*arrived);
        told_.contributions.clear();
    }
    for (auto& action : actions_) {
        names_.to_run(action);
        std::visit([this](auto& one) { carry_out(one); }, action);
    }
}

// Tells the scheme of the timer that is due first; of several, of that with the least number.
void Engine::fire_timer()
{
    const auto due =
        std::min_element(timers_.begin(), timers_.end(), [](const auto& a, const auto& b) {
            return std::tie(a.second, a.first) < std::tie(b.second, b.first);
        });
    fleet_->fired(due->first);
    trace_->add(trace::Timer{++event_, due->first});
    events_.push_back(Deadline{due->first});
    timers_.erase(due);
}

// Returns what the scheme is told of a contribution.
Contribution Engine::describe(const Live& live)
{
    Contribution told{live.arrival, live.id, live.arrival.sent, live.arrival.arrived};
    if (!needs_.fingerprint && !needs_.projection) return told;
    const auto measure = estimates_->measure(needs_, *fleet_, live.arrival, live.event);
    trace_->add(measure);
    told.fingerprint = static_cast<std::uint64_t>(measure.fingerprint);
    told.projection = measure.projection;
    return told;
}

void Engine::receive(std::vector<Arrival> arrivals)
{
    auto arrived = std::move(told_);
    ++event_;
    for (auto& arrival : arrivals) {
        auto* open = open_.find(arrival.task);
        const auto* control = open ? &contexts_.at(open->context).control : nullptr;
        // Contributions of closed tasks are counted and dropped. So are parts that came already: a
        // worker that joins again begins its task anew, and sends once more what it had sent before
        // it was lost.
        if (!open ||
            (!control->repeat && static_cast<std::uint32_t>(arrival.part) < open->received)) {
            finish({contributions_, std::move(arrival), event_, round_ + 1, 0});
            continue;
        }
        ++open->received;
        if (control->draw == own_count) {
            auto& count = counts_[static_cast<std::size_t>(arrival.worker)];
            count = std::max(count, arrival.draw + 1);
        }
        if (answered(*open)) members_.settled(open->worker, open->id);
        // Of no samples there is nothing that a step could use.
        if (options_.keeps_states() && arrival.samples == 0) local_.closed(open->worker, open->id);
        if (keeps_cached_)
            cached_.answered(open->worker, open->id, arrival.versions, answered(*open));
        if (open->last < open->first) open->first = contributions_;
        open->last = contributions_;
        const auto& one =
            live_.add({contributions_++, std::move(arrival), event_, round_ + 1, control->step});
        arrived.contributions.push_back(describe(one));
    }
    if (!arrived.contributions.empty()) events_.push_back(std::move(arrived));
}

// Fetches into the cache what receive() and the scheme look at for a task.
void Engine::fetch_ahead(Worker worker, TaskId task)
{
    if (const auto* open = open_.guess(task)) prefetch(open);
    members_.fetch_ahead(worker);
    if (const auto known = names_.scheme_of(worker); known >= 0) scheme_->fetch_ahead(known);
}

std::vector<trace::ItemRow> Engine::items_of(const Live& live)
{
    std::vector<trace::ItemRow> items;
    for (const auto version : live.arrival.versions)
        items.push_back({live.event, live.arrival.part, std::ssize(items), version});
    return items;
}

// Records a contribution whose use is known, and frees its values, which nothing names any more.
void Engine::finish(const Live& live)
{
    record(live);
    fleet_->release(live.arrival.handle);
}

void Engine::record(const Live& live)
{
    const bool listed = options_.arrivals == Arrivals::all ||
                        (options_.arrivals == Arrivals::used && live.use.times != 0);
    if (!listed && !observer_.arrival) return;
    const auto row = this->row(live);
    if (listed) {
        trace_->add(row);
        for (const auto& item : items_of(live)) trace_->add(item);
    }
    if (observer_.arrival) observer_.arrival(row);
}

Engine::Live& Engine::live(ContributionId id)
{
    auto* one = live_.find(id);
    if (!one) throw std::logic_error("a scheme named a contribution that it closed or never got");
    return *one;
}

void Engine::carry_out(Dispatch& task)
{
    task.control.step = needs_.displaces ? options_.schedule(batches_) : 0;
    next_task_ = task.task + 1;
    next_draw_ = std::max(next_draw_, task.control.draw + 1);
    members_.asked(task.worker, task.task);
    quiescent_ = false;
    const auto context = context_of(task);
    if (options_.keeps_unsent)
        if (const auto why = local_.why_no_memory(task); !why.empty())
            throw NoMemory("--error-feedback is not for this scheme, which " + why +
                           ": leave it out, or use another scheme");
    if (options_.keeps_states()) task.local = local_.opened(task, options_.keeps_unsent);
    if (keeps_cached_ && std::ranges::any_of(task.plan->parts, is_cached)) cached_.opened(task);
    hand_over(task);
    open_.add({.id = task.task,
               .worker = task.worker,
               .context = static_cast<std::uint32_t>(context),
               .parts = static_cast<std::uint32_t>(task.plan->parts.size()),
               .plan = std::move(task.plan)});
}

// Returns the context of a task that is opened now: that of the last one, if it is the same.
std::size_t Engine::context_of(const Dispatch& task)
{
    const auto same = [&](const Context& context) {
        return context.open > 0 && context.control == task.control &&
               context.inputs == task.inputs && context.operands == task.operands;
    };
    if (!newest_context_ || !same(contexts_.at(*newest_context_))) {
        newest_context_ = contexts_.take();
        contexts_.at(*newest_context_) = {task.inputs, task.operands, task.control};
        for (const auto version : task.inputs) points_.name(version);
    }
    ++contexts_.at(*newest_context_).open;
    return *newest_context_;
}

// Gives a task to its worker; does nothing if the worker does not take part.
void Engine::hand_over(const Dispatch& task)
{
    if (!members_.active(task.worker)) return;
    PointList inputs;
    for (const auto version : task.inputs) inputs.push_back(points_.at(version));
    if (task.operands)
        for (const auto& operand : estimates_->form(task.operands)) inputs.push_back(operand);
    fleet_->dispatch(task, std::move(inputs));
}

// Gives an open task to its worker once more, unless it is answered.
void Engine::hand_over_again(const OpenTask& open)
{
    if (answered(open)) return;
    const auto& context = contexts_.at(open.context);
    hand_over({open.id, open.worker, open.plan, context.inputs, context.operands, context.control,
               local_.of(open.worker, open.id)});
}

void Engine::carry_out(const Close& close)
{
    ContributionId first = contributions_, last = -1;  // of these tasks
    open_.for_range(close.first, close.last, [&](OpenTask& open) {
        auto& context = contexts_.at(open.context);
        if (--context.open == 0) {
            for (const auto version : context.inputs) points_.let_go(version);
            context.operands.reset();
            contexts_.give_back(open.context);
        }
        members_.settled(open.worker, open.id);
        if (options_.keeps_states()) local_.closed(open.worker, open.id);
        if (keeps_cached_) cached_.closed(open.worker, open.id);
        fleet_->close(open.worker, open.id);
        if (open.first <= open.last) first = std::min(first, open.first);
        last = std::max(last, open.last);
        open.plan.reset();
        open_.drop(open);
    });
    live_.for_range(first, last, [&](Live& one) {
        if (one.arrival.task < close.first || one.arrival.task > close.last) return;
        leave_table(one);
        finish(one);
        live_.drop(one);
    });
}

void Engine::carry_out(const SetTimer& timer)
{
    if (timer.at == never)
        timers_.erase(timer.timer);
    else
        timers_[timer.timer] = timer.at;
}

void Engine::carry_out(const Note& note)
{
    if (observer_.note) observer_.note(note.text);
}

void Engine::carry_out(const Undecodable& undecodable) { undecodable_ = undecodable.why; }

Seconds Engine::next_timer() const
{
    Seconds first = never;
    for (const auto& [timer, at] : timers_) first = std::min(first, at);
    return first;
}

}  // namespace quorate
