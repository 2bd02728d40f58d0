// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/virtual_fleet.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace quorate {

namespace {

constexpr std::int64_t header_bytes = 64;  // about what a message over MPI has beside its payload

}  // namespace

VirtualFleet::VirtualFleet(Recipes& recipes, const VirtualTimes& times)
    : recipes_(recipes), times_(times), info_(recipes.workers()), standby_(times.standby),
      machines_used_(static_cast<int>(info_.size()))
{
    links_.reserve(info_.size());
    busy_.resize(info_.size());
    for (Worker worker = 0; worker < machines_used_; ++worker)
        links_.push_back({.worker = {recipes, times_.stragglers, worker}});
}

void VirtualFleet::dispatch(const Dispatch& task, PointList inputs)
{
    auto& to = link(task.worker);
    // The latest task wins: it takes the place of those that wait to be sent. A task that follows
    // others replaces only those that would repeat.
    to.orders.erase(std::remove_if(to.waiting(), to.orders.end(),
                                   [&](const Order& waiting) {
                                       return task.control.replaces(waiting.terms->control);
                                   }),
                    to.orders.end());
    if (!fresh_ || !fresh_->are_of(task, inputs)) fresh_ = new Terms(task, std::move(inputs));
    const bool was_busy = std::exchange(busy_[static_cast<std::size_t>(task.worker)], true);
    const bool same_plan = !was_busy && to.worker.plan() == task.plan.get();
    to.orders.push_back({task.task, same_plan ? nullptr : task.plan, fresh_});
    if (!std::exchange(to.queued, true)) outbox_.push_back(task.worker);
}

void VirtualFleet::close(Worker worker, TaskId task)
{
    if (!busy_[static_cast<std::size_t>(worker)]) return;
    auto& to = link(worker);
    if (to.travelling > 0 || to.worker.has(task)) closed_.emplace_back(worker, task);
    to.orders.erase(std::remove_if(to.waiting(), to.orders.end(),
                                   [&](const Order& order) { return order.id() == task; }),
                    to.orders.end());
}

const VirtualFleet::Event& VirtualFleet::first_event()
{
    return events_.top([this](const Event& soon) {
        prefetch(&link(soon.worker), SimulatedWorker::read_by_finish);
        if (soon.kind == Kind::finished) expected_.push_back({soon.worker, soon.task});
    });
}

void VirtualFleet::add_event(Seconds time, Kind kind, Worker worker, TaskId task, std::size_t what)
{
    events_.push({time, task, worker, static_cast<std::uint32_t>(what), kind});
}

std::vector<Arrival> VirtualFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    expected_.clear();
    while (!stop && changes_.empty()) {
        const bool due =
            !events_.empty() && first_event().time <= now_ && first_event().kind < Kind::again;
        if (!due && until > now_ && post()) continue;
        // Deliveries at the time of the deadline come after it: the scheme acts on the deadline
        // first.
        if (events_.empty() || first_event().time > until ||
            (first_event().time == until && first_event().kind > Kind::finished)) {
            if (until == never)
                throw Failure(
                    "the scheme waits, but no worker computes and no timer runs: report this as a "
                    "bug");
            now_ = std::max(now_, until);
            return {};
        }
        const auto event = first_event();
        events_.pop();
        now_ = event.time;
        if (auto arrivals = take(event); !arrivals.empty()) return arrivals;
    }
    return {};
}

std::vector<Arrival> VirtualFleet::take(const Event& event)
{
    auto& to = link(event.worker);
    auto& worker = to.worker;
    switch (event.kind) {
        case Kind::arrival: {
            auto arrivals = std::move(messages_.at(event.what));
            messages_.give_back(event.what);
            for (auto& arrival : arrivals) arrival.arrived = now_;
            return arrivals;
        }
        case Kind::finished:
            if (event.what == worker.epoch()) return finish(event.worker);
            break;  // the task was dropped meanwhile
        case Kind::delivery:
            // If the worker has gone meanwhile, the task is no longer under way and is lost.
            if (to.travelling == 0 || to.orders.front().id() != event.task) break;
            --to.travelling;
            deliver(event.worker, to.orders.begin());
            break;
        case Kind::change: notice(event.worker, static_cast<Change::Kind>(event.what)); break;
        case Kind::cancel:
            worker.cancel(event.task, now_);
            if (worker.can_begin()) begin(event.worker);
            break;
        case Kind::again:
            if (event.what == worker.epoch() && worker.can_begin()) begin(event.worker);
            break;
        case Kind::port_free: break;  // wait() calls post() next, which sends what waited for it
    }
    return {};
}

bool VirtualFleet::post()
{
    bool any = false;
    const auto& network = times_.network;
    while (!outbox_.empty()) {
        if (!network.free() && network.shared_port && sending_.free_at() > now_) {
            if (std::exchange(wake_at_port_, sending_.free_at()) != sending_.free_at())
                add_event(sending_.free_at(), Kind::port_free, 0, 0, 0);
            break;
        }
        const auto worker = outbox_.front();
        outbox_.pop_front();
        auto& to = link(worker);
        to.queued = to.waits();
        if (!to.queued) continue;
        send(worker);
        any = true;
        to.queued = to.waits();
        if (to.queued) outbox_.push_back(worker);
    }
    for (const auto& [worker, task] : closed_) cancel(worker, task);
    closed_.clear();
    fresh_.reset();
    return any;
}

void VirtualFleet::send(Worker worker)
{
    auto& to = link(worker);
    const auto order = to.waiting();
    const auto& inputs = order->terms->inputs;
    const auto unknown = std::ranges::count_if(
        inputs, [&](Version v) { return std::ranges::find(to.held, v) == to.held.end(); });
    const auto bytes =
        header_bytes + unknown * recipes_.payload(worker) + recipes_.operand_bytes(*order->terms);
    bytes_sent_ += bytes;
    if (to.gone) {
        to.orders.erase(order);
        return;
    }
    to.held = inputs;
    order->sent = now_;
    const auto& network = times_.network;
    if (network.free()) {
        deliver(worker, order);
        return;
    }
    const auto wire = network.wire(bytes);
    const auto left = network.shared_port ? sending_.pass(now_, wire) : now_ + wire;
    add_event(left + network.latency, Kind::delivery, worker, order->id(), 0);
    ++to.travelling;
}

// Carries out a change that the engine wants: that a worker joins, leaves or dies. A death is
// reported when the coordinator notices it.
void VirtualFleet::change(const Change& wanted)
{
    auto& to = link(wanted.worker);
    if (wanted.kind == Change::Kind::joined) {
        join(wanted.worker);
    } else {
        clear(to);
        to.gone = true;
    }
    if (wanted.kind != Change::Kind::died) {
        changes_.push_back(wanted);
        return;
    }
    to.worker.forget_gradients();
    add_event(now_ + times_.timeout, Kind::change, wanted.worker, 0,
              static_cast<std::size_t>(wanted.kind));
}

void VirtualFleet::join(Worker worker)
{
    auto& to = link(worker);
    to.gone = false;
    to.worker.wait_from(now_);
}

void VirtualFleet::add_points(std::map<Version, Point>& points) const
{
    for (const auto& one : links_) one.worker.add_points(points);
}

// Reports a death when the coordinator notices it, or a join when a standby machine has loaded its
// rows. After a death a standby machine, if there is one, begins to load.
void VirtualFleet::notice(Worker worker, Change::Kind kind)
{
    changes_.push_back({kind, worker});
    if (kind == Change::Kind::joined) {
        join(worker);
    } else if (standby_ > 0) {
        --standby_;
        changes_.push_back({Change::Kind::loading, worker});
        link(worker).worker.replace_machine(machines_used_++);
        add_event(now_ + loading(worker), Kind::change, worker, 0,
                  static_cast<std::size_t>(Change::Kind::joined));
    }
}

// Drops all tasks of a worker: those it has, and those that wait or travel.
void VirtualFleet::clear(Link& link)
{
    link.worker.clear(now_);
    link.orders.clear();
    link.travelling = 0;
    link.held.clear();
}

void VirtualFleet::reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members)
{
    for (auto& one : links_) {
        clear(one);
        one.worker.reset(now_);
    }
    closed_.clear();
    recipes_.reencode(std::move(coding), members);
    for (const auto worker : members) link(worker).ready = now_ + loading(worker);
}

// Tells a worker to drop a closed task, unless a newer task replaces it anyway.
void VirtualFleet::cancel(Worker worker, TaskId task)
{
    const auto& to = link(worker);
    if (!to.worker.is_running() || !to.orders.empty() || !to.worker.has(task)) return;
    const auto latency = times_.network.free() ? 0 : times_.network.latency;
    add_event(now_ + latency, Kind::cancel, worker, task, 0);
}

// Gives a worker one of its orders.
void VirtualFleet::deliver(Worker worker, std::vector<Order>::iterator order)
{
    auto& to = link(worker);
    to.worker.add(std::move(*order), now_);
    to.orders.erase(order);
    if (to.worker.can_begin()) begin(worker);
}

// Has a worker begin its next task, as soon as it has loaded its rows.
void VirtualFleet::begin(Worker worker)
{
    auto& to = link(worker);
    if (now_ < to.ready) {
        add_event(to.ready, Kind::again, worker, 0, to.worker.epoch());
        return;
    }
    const auto complete = to.worker.begin(now_);
    add_event(complete, Kind::finished, worker, to.worker.task(), to.worker.epoch());
}

// Sends the message that is complete now. @return its contributions if messages take no time
std::vector<Arrival> VirtualFleet::finish(Worker worker)
{
    auto& from = link(worker);
    const auto task = from.worker.task();
    auto arrivals = from.worker.finish(now_);
    auto bytes = header_bytes;
    for (const auto& arrival : arrivals) bytes += arrival.bytes;
    for (auto& arrival : arrivals) arrival.bytes = bytes / std::ssize(arrivals);
    bytes_received_ += bytes;
    // The next task begins after all other events of this time, so that it finds what has just
    // come.
    if (from.worker.is_running())
        add_event(from.worker.complete_at(), Kind::finished, worker, task, from.worker.epoch());
    else if (from.worker.can_begin())
        add_event(now_, Kind::again, worker, task, from.worker.epoch());
    else
        busy_[static_cast<std::size_t>(worker)] = !from.orders.empty();
    const auto& network = times_.network;
    if (network.free()) return arrivals;
    auto& port = network.shared_port ? receiving_ : from.port;
    const auto arrived = port.pass(now_ + network.latency, network.wire(bytes));
    from.worker.sent_in(arrived - now_);
    const auto number = messages_.take();
    add_event(arrived, Kind::arrival, worker, task, number);
    messages_.at(number) = std::move(arrivals);
    return {};
}

}  // namespace quorate
