// SPDX-License-Identifier: BSD-2-Clause
#include "engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "base/error.hpp"

namespace quorate {

namespace {

// Returns how many vectors a run allocates in advance: for the iterates that may wait in memory
// until the trace has written them, and for the few points that are alive at a time.
std::size_t stock(const EngineOptions& options, std::size_t width)
{
    constexpr std::int64_t alive = 4;
    const auto kept = options.evaluate_every > 0 ? options.rounds / options.evaluate_every : 0;
    const auto bytes = std::max<std::size_t>(1, width) * sizeof(double);  // no width: a dry run
    const auto most = static_cast<std::int64_t>(trace::iterates_in_memory / bytes);
    return static_cast<std::size_t>(std::min(kept, most) + alive);
}

}  // namespace

Engine::Engine(const EngineOptions& options, Scheme& scheme, Fleet& fleet,
               std::span<const std::unique_ptr<Optimizer>> optimizers, trace::Sink& trace)
    : options_(options), scheme_(&scheme), needs_(scheme.needs()), fleet_(&fleet),
      optimizers_(optimizers), trace_(&trace),
      points_(optimizers[0]->model().size(), stock(options, optimizers[0]->model().size())),
      computed_(options.estimates, needs_, points_, optimizers[0]->model().size()),
      members_(fleet.workers().size()), counts_(fleet.workers().size()), updates_(optimizers.size())
{
    for (std::size_t model = 0; model < optimizers.size(); ++model) {
        auto initial = points_.blank();
        std::ranges::copy(optimizers[model]->model(), initial->begin());
        points_.publish(std::move(initial), static_cast<int>(model));
        if (optimizers.size() > 1) update_of_.push_back(0);
    }
}

std::int64_t Engine::run(const std::atomic<bool>& stop, Observer observer)
{
    (history_ ? later_observer_ : observer_) = std::move(observer);
    run_rounds(stop);
    for (const auto& one : live_) finish(one);
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
        if (history_ && event_ >= history_->past().event) {
            end_of_history();
        } else if (std::exchange(updated_, false) && observer_.snapshot) {
            take_snapshot();
        }
        if (undecodable_.empty() && nobody_can_answer() && !std::exchange(quiescent_, true)) {
            events_.push_back(Quiescent{});
            continue;
        }
        if (nobody_can_answer() && !waits_for_workers()) {
            reencode();
            continue;
        }
        const auto until = std::min(next_timer(), plan.next());
        const auto arrivals = fleet_->wait(until, history_ ? unstopped : stop);
        if (!arrivals.empty())
            receive(arrivals);
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
    while (!events_.empty()) {
        auto event = std::move(events_.front());
        events_.erase(events_.begin());
        if (const auto* stepped = std::get_if<Stepped>(&event)) {
            if (observer_.round) observer_.round({round_, last_.loss, dispatched_, stepped->model});
            end_if_done(stepped->model);
            if (round_ >= options_.rounds) return true;
            if (std::exchange(reencode_next_, false)) {
                reencode();
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
    if (!observer_.done({round_, last_.loss, last_.step_size, computed_.estimate(), at})) return;
    options_.rounds = round_;
    if (options_.evaluate_every > 0 && !last_.kept) keep_model(model);
}

void Engine::give(Event event)
{
    actions_.clear();
    scheme_->handle(names_.to_scheme(std::move(event)), fleet_->now(), actions_);
    for (auto& action : actions_)
        std::visit([this](const auto& one) { carry_out(one); }, names_.to_run(std::move(action)));
}

// Tells the scheme of the timer that is due first; of several, of that with the least number.
void Engine::fire_timer()
{
    const auto due =
        std::min_element(timers_.begin(), timers_.end(), [](const auto& a, const auto& b) {
            return std::tie(a.second, a.first) < std::tie(b.second, b.first);
        });
    trace_->add(trace::Timer{++event_, due->first});
    events_.push_back(Deadline{due->first});
    timers_.erase(due);
}

// Returns what the scheme is told of a contribution.
Contribution Engine::describe(const Live& live)
{
    Contribution told{live.arrival, live.id};
    if (!needs_.fingerprint && !needs_.projection) return told;
    const auto measure = estimates_->measure(needs_, *fleet_, live.arrival, live.event);
    trace_->add(measure);
    told.fingerprint = static_cast<std::uint64_t>(measure.fingerprint);
    told.projection = measure.projection;
    return told;
}

void Engine::receive(const std::vector<Arrival>& arrivals)
{
    Arrived arrived;
    ++event_;
    for (const auto& arrival : arrivals) {
        auto* open = open_task(arrival.task);
        Live live{contributions_, arrival, event_, round_ + 1, open ? open->task.control.step : 0};
        // Contributions of closed tasks are counted and dropped. So are parts that came already: a
        // worker that joins again begins its task anew, and sends once more what it had sent before
        // it was lost.
        if (!open || (!open->task.control.repeat &&
                      static_cast<std::size_t>(arrival.part) < open->received)) {
            finish(live);
            continue;
        }
        ++open->received;
        if (open->task.control.draw == own_count) {
            auto& count = counts_[static_cast<std::size_t>(arrival.worker)];
            count = std::max(count, arrival.draw + 1);
        }
        if (open->answered()) members_.settled(open->task.worker, open->id());
        ++contributions_;
        live_.push_back(std::move(live));
        arrived.contributions.push_back(describe(live_.back()));
    }
    if (!arrived.contributions.empty()) events_.push_back(std::move(arrived));
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
    const auto row = live.row();
    if (options_.arrivals == Arrivals::all || (options_.arrivals == Arrivals::used && row.used)) {
        trace_->add(row);
        for (const auto& item : items_of(live)) trace_->add(item);
    }
    if (observer_.arrival) observer_.arrival(row);
}

Engine::OpenTask* Engine::open_task(TaskId task)
{
    if (open_.empty() || task < open_.front().id()) return nullptr;
    // The numbers mostly have no gaps, so the distance from the first is tried before a search.
    const auto guess = static_cast<std::size_t>(task - open_.front().id());
    if (guess < open_.size() && open_[guess].id() == task) return &open_[guess];
    const auto at = std::ranges::lower_bound(open_, task, {}, &OpenTask::id);
    return at != open_.end() && at->id() == task ? &*at : nullptr;
}

Engine::Live& Engine::live(ContributionId id)
{
    const auto at = std::ranges::lower_bound(live_, id, {}, &Live::id);
    if (at == live_.end() || at->id != id)
        throw std::logic_error("a scheme named a contribution that it closed or never got");
    return *at;
}

void Engine::carry_out(const Dispatch& asked)
{
    open_.push_back({asked});
    auto& task = open_.back().task;
    task.control.step = needs_.displaces ? options_.schedule(batches_) : 0;
    for (const auto version : task.inputs) points_.hold(version);
    next_task_ = task.task + 1;
    next_draw_ = std::max(next_draw_, task.control.draw + 1);
    members_.asked(task.worker, task.task);
    quiescent_ = false;
    hand_over(open_.back());
}

// Gives a task to its worker; does nothing if the worker does not take part.
void Engine::hand_over(const OpenTask& open)
{
    if (!members_.active(open.task.worker)) return;
    PointList inputs;
    for (const auto version : open.task.inputs) inputs.push_back(points_.at(version));
    if (open.task.operands)
        for (const auto& operand : estimates_->form(open.task.operands)) inputs.push_back(operand);
    fleet_->dispatch(open.task, std::move(inputs));
}

void Engine::carry_out(const Close& close)
{
    const auto first = std::ranges::lower_bound(open_, close.first, {}, &OpenTask::id);
    const auto last = std::ranges::upper_bound(open_, close.last, {}, &OpenTask::id);
    for (auto open = first; open != last; ++open) {
        for (const auto version : open->task.inputs) points_.let_go(version);
        members_.settled(open->task.worker, open->id());
        fleet_->close(open->task.worker, open->id());
    }
    open_.erase(first, last);
    std::erase_if(live_, [&](const Live& one) {
        const bool closed = close.first <= one.arrival.task && one.arrival.task <= close.last;
        if (closed) finish(one);
        return closed;
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
