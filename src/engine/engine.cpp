// SPDX-License-Identifier: BSD-2-Clause
#include "engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <tuple>

#include "base/error.hpp"
#include "base/random.hpp"

namespace quorate {

namespace {

// Iterates wait in memory until the trace has written them, so a run begins with that many.
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
      optimizers_(optimizers), trace_(trace),
      points_(optimizers[0]->model().size(), stock(options, optimizers[0]->model().size())),
      estimate_(optimizers[0]->model().size(), 0.0), members_(fleet.workers().size()),
      counts_(fleet.workers().size()), updates_(optimizers.size())
{
    for (std::size_t model = 0; model < optimizers.size(); ++model) {
        auto initial = points_.blank();
        std::ranges::copy(optimizers[model]->model(), initial->begin());
        placeholders_[points_.next()] = initial;
        points_.publish(std::move(initial), static_cast<int>(model));
        if (optimizers.size() > 1) update_of_.push_back(0);
    }
    if (needs_.projection) {
        Stream stream(options.seed, Purpose::probe);
        probe_.resize(estimate_.size());
        for (auto& element : probe_) element = stream.normal();
    }
    if (needs_.inner_product) last_estimate_.resize(estimate_.size());
}

std::int64_t Engine::run(const std::atomic<bool>& stop, Observer observer)
{
    observer_ = std::move(observer);
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
    auto& plan = options_.membership;
    const std::atomic<bool> unstopped = false;  // nothing is gained by stopping in the past
    for (const auto worker : members_.all(MembershipTable::Status::active))
        write(
            trace::Membership{event_, 0, worker, static_cast<std::int64_t>(trace::Change::joined)});
    start(members_.all(MembershipTable::Status::active));
    while (!stop || past_) {
        if (give_events()) return;
        if (past_ && event_ >= past_->event) {
            end_of_past();
        } else if (!past_ && std::exchange(updated_, false) && observer_.snapshot) {
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
        const auto arrivals = fleet_->wait(until, past_ ? unstopped : stop);
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

// @return whether all rounds are done
bool Engine::give_events()
{
    while (!events_.empty()) {
        const auto event = std::move(events_.front());
        events_.erase(events_.begin());
        if (const auto* stepped = std::get_if<Stepped>(&event)) {
            if (observer_.round && !past_)
                observer_.round({round_, loss_, dispatched_, stepped->model});
            if (round_ == options_.rounds) return true;
            if (std::exchange(reencode_next_, false)) {
                reencode();
                continue;
            }
        }
        give(event);
    }
    return false;
}

void Engine::give(const Event& event)
{
    actions_.clear();
    const bool same = names_.changes_nothing();
    if (same)
        scheme_->handle(event, fleet_->now(), actions_);
    else
        scheme_->handle(names_.to_scheme(event), fleet_->now(), actions_);
    for (auto& action : actions_) {
        if (!same) action = names_.to_run(std::move(action));
        std::visit([this](const auto& one) { carry_out(one); }, action);
    }
}

void Engine::fire_timer()
{
    const auto due =
        std::min_element(timers_.begin(), timers_.end(), [](const auto& a, const auto& b) {
            return std::tie(a.second, a.first) < std::tie(b.second, b.first);
        });
    write(trace::Timer{++event_, due->first});
    events_.push_back(Deadline{due->first});
    timers_.erase(due);
}

Contribution Engine::describe(const Live& live)
{
    Contribution told{live.arrival, live.id};
    if (!needs_.fingerprint && !needs_.projection) return told;
    trace::Measure measure{live.event, live.arrival.part, 0, 0};
    if (past_) {
        measure = past_->measures.at({measure.event, measure.part});
    } else {
        if (needs_.fingerprint)
            measure.fingerprint =
                static_cast<std::int64_t>(fleet_->fingerprint(live.arrival.handle));
        if (needs_.projection) {
            const auto values = fleet_->values(live.arrival.handle);
            measure.projection = values.support.dot(values.packed, probe_);
        }
        write(measure);
    }
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
        // Closed is closed, and one who came back may send what had come before it was lost: such
        // contributions are counted and dropped.
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

// Its use is known, and nobody names it any more.
void Engine::finish(const Live& live)
{
    record(live);
    fleet_->release(live.arrival.handle);
}

void Engine::record(const Live& live)
{
    const auto row = live.row();
    if (options_.arrivals == Arrivals::all || (options_.arrivals == Arrivals::used && row.used)) {
        write(row);
        for (const auto& item : items_of(live)) write(item);
    }
    if (observer_.arrival && !past_) observer_.arrival(row);
}

Engine::OpenTask* Engine::open_task(TaskId task)
{
    if (open_.empty() || task < open_.front().id()) return nullptr;
    // Mostly there are no gaps between the numbers.
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

void Engine::hand_over(const OpenTask& open)
{
    if (!members_.active(open.task.worker)) return;
    PointList inputs;
    for (const auto version : open.task.inputs) inputs.push_back(points_.at(version));
    if (open.task.operands)
        for (const auto& operand : form(open.task.operands)) inputs.push_back(operand);
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

void Engine::carry_out(const Step& step)
{
    const auto decided = fleet_->now();
    change(options_.membership.after_round(round_ + 1, members_));
    trace::Round row{};
    form_estimate(step, row);
    if (options_.clip > 0) clip_estimate(row.gradient_norm);
    row.step_size = options_.schedule(batches_) * step.scale;
    row.model = step.model;
    auto next = points_.blank();
    auto& optimizer = *optimizers_[static_cast<std::size_t>(step.model)];
    row.inner = inner_with_last();
    if (past_)
        placeholders_[points_.next()] = next;
    else if (step.displacement)
        optimizer.move(estimate_, *next);
    else
        optimizer.update(estimate_, row.step_size, *next);
    const auto version = points_.publish(std::move(next), step.model);
    const auto updates = ++updates_[static_cast<std::size_t>(step.model)];
    if (optimizers_.size() > 1) update_of_.push_back(updates);
    batches_ += step.share;
    ++round_;
    ++event_;
    row.time = fleet_->now();
    row.wait = decided - dispatched_;
    row.erased = static_cast<std::int64_t>(fleet_->workers().size()) - row.used;
    row.decode_error = step.error;
    row.bytes_sent = fleet_->bytes_sent() - std::exchange(bytes_sent_, fleet_->bytes_sent());
    row.bytes_received =
        fleet_->bytes_received() - std::exchange(bytes_received_, fleet_->bytes_received());
    dispatched_ = row.time;
    loss_ = row.loss_estimate;
    row.waste = step.waste;
    write(row);
    if (!past_ && options_.evaluate_every > 0 &&
        (updates % options_.evaluate_every == 0 ||
         round_ > options_.rounds - static_cast<std::int64_t>(optimizers_.size())))
        keep_model(step.model);
    updated_ = true;
    events_.push_back(Stepped{version, step.model, row.inner});
    // What the step has used is needed no more.
    std::erase_if(live_, [&](const Live& one) {
        if (one.used) finish(one);
        return one.used != 0;
    });
}

void Engine::keep_model(int number)
{
    // For most update rules the model is the point just published, and needs no copy.
    const auto& optimizer = *optimizers_[static_cast<std::size_t>(number)];
    const auto model = optimizer.model();
    Point kept = points_.at(points_.newest(number));
    if (!optimizer.publishes_model()) {
        auto copy = points_.blank();
        std::copy(model.begin(), model.end(), copy->begin());
        kept = std::move(copy);
    }
    if (observer_.kept) observer_.kept(round_, kept);
    trace_.keep(round_, std::move(kept));
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
    if (observer_.note && !past_) observer_.note(note.text);
}

void Engine::carry_out(const Undecodable& undecodable) { undecodable_ = undecodable.why; }

Seconds Engine::next_timer() const
{
    Seconds first = never;
    for (const auto& [timer, at] : timers_) first = std::min(first, at);
    return first;
}

}  // namespace quorate
