// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/virtual_fleet.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace quorate {

namespace {

constexpr std::int64_t header_bytes = 64;  // about what a message has beside its payload

// These queues mostly hold one element.
template <class T>
T take_first(std::vector<T>& queue)
{
    auto first = std::move(queue.front());
    queue.erase(queue.begin());
    return first;
}

}  // namespace

VirtualFleet::VirtualFleet(Recipes& recipes, const VirtualTimes& times)
    : recipes_(recipes), times_(times), info_(recipes.workers()), machines_(info_.size())
{
}

void VirtualFleet::dispatch(const Dispatch& task, PointList inputs)
{
    auto& to = machine(task.worker);
    if (task.begin == Dispatch::Begin::now) to.waiting.clear();  // latest wins
    to.waiting.push_back({task, std::move(inputs), now_});
    if (!std::exchange(to.queued, true)) outbox_.push_back(task.worker);
}

void VirtualFleet::close(TaskId first, TaskId last)
{
    closed_.emplace_back(first, last);
    for (const auto worker : outbox_)
        std::erase_if(machine(worker).waiting, [&](const Order& order) {
            return first <= order.task.task && order.task.task <= last;
        });
}

std::vector<Arrival> VirtualFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    while (!stop) {
        const bool due = !events_.empty() && events_.top().time <= now_;
        if (!due && until > now_ && post()) continue;
        // What workers are told at the deadline comes after it.
        if (events_.empty() || events_.top().time > until ||
            (events_.top().time == until && events_.top().kind > Kind::finished)) {
            if (until == never)
                throw Failure(
                    "the scheme waits, but no worker computes and no timer runs: report this as a "
                    "bug");
            now_ = std::max(now_, until);
            return {};
        }
        const auto event = events_.top();
        events_.pop();
        now_ = event.time;
        if (auto arrivals = take(event); !arrivals.empty()) return arrivals;
    }
    return {};
}

std::vector<Arrival> VirtualFleet::take(const Event& event)
{
    auto& at = machine(event.worker);
    switch (event.kind) {
        case Kind::arrival: {
            auto arrivals = std::move(messages_.at(event.what));
            messages_.give_back(event.what);
            for (auto& arrival : arrivals) arrival.arrived = now_;
            return arrivals;
        }
        case Kind::finished:
            if (event.what == at.epoch) return finish(event.worker);
            break;  // the task was dropped meanwhile
        case Kind::delivery: {
            deliver(event.worker, take_first(at.travelling));
            break;
        }
        case Kind::cancel: drop(at, event.task); break;
        case Kind::port_free: break;  // post() goes on
    }
    return {};
}

// Sends what can be sent now. @return whether anything was
bool VirtualFleet::post()
{
    bool any = false;
    const auto& network = times_.network;
    while (!outbox_.empty()) {
        if (!network.free() && network.shared_port && sending_.free_at() > now_) {
            if (std::exchange(wake_at_port_, sending_.free_at()) != sending_.free_at())
                events_.push({sending_.free_at(), Kind::port_free, 0, 0, 0});
            break;
        }
        const auto worker = outbox_.front();
        outbox_.pop_front();
        auto& to = machine(worker);
        to.queued = !to.waiting.empty();
        if (!to.queued) continue;
        send(worker);
        any = true;
        to.queued = !to.waiting.empty();
        if (to.queued) outbox_.push_back(worker);
    }
    for (const auto& [first, last] : std::exchange(closed_, {})) cancel(first, last);
    return any;
}

void VirtualFleet::send(Worker worker)
{
    auto& to = machine(worker);
    auto order = take_first(to.waiting);
    const auto& inputs = order.task.inputs;
    const auto unknown = std::ranges::count_if(
        inputs, [&](Version v) { return std::ranges::find(to.held, v) == to.held.end(); });
    const auto bytes = header_bytes + unknown * recipes_.payload(worker);
    to.held = inputs;
    bytes_sent_ += bytes;
    order.sent = now_;
    const auto& network = times_.network;
    if (network.free()) {
        deliver(worker, std::move(order));
        return;
    }
    const auto wire = network.wire(bytes);
    const auto left = network.shared_port ? sending_.pass(now_, wire) : now_ + wire;
    events_.push({left + network.latency, Kind::delivery, worker, order.task.task, 0});
    to.travelling.push_back(std::move(order));
}

// Tells workers to drop closed tasks, unless a newer task says so anyway.
void VirtualFleet::cancel(TaskId first, TaskId last)
{
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        auto& at = machines_[i];
        if (!at.running || !at.waiting.empty() || !at.travelling.empty()) continue;
        const auto newest = at.next.empty() ? at.running->task.task : at.next.back().task.task;
        if (newest < first || newest > last) continue;
        if (times_.network.free())
            drop(at, last);
        else
            events_.push(
                {now_ + times_.network.latency, Kind::cancel, static_cast<Worker>(i), last, 0});
    }
}

void VirtualFleet::drop(Machine& at, TaskId last)
{
    std::erase_if(at.next, [last](const Order& order) { return order.task.task <= last; });
    if (!at.running || at.running->task.task > last) return;
    at.running.reset();
    ++at.epoch;
    at.idle_since = now_;
}

void VirtualFleet::deliver(Worker worker, Order order)
{
    auto& at = machine(worker);
    if (order.task.begin == Dispatch::Begin::now) drop(at, order.task.task);
    at.next.push_back(std::move(order));
    if (!at.running) begin(worker);
}

double VirtualFleet::load(Machine& at, const std::shared_ptr<const Plan>& plan)
{
    if (at.measured != plan) {
        at.measured = plan;
        at.rows.clear();
        for (const auto& part : plan->parts) at.rows.push_back(recipes_.batches().samples(part));
    }
    std::int64_t rows = 0;
    for (const auto part : at.rows) rows += part;
    return static_cast<double>(rows) / static_cast<double>(recipes_.batches().samples());
}

void VirtualFleet::begin(Worker worker)
{
    auto& at = machine(worker);
    at.running = take_first(at.next);
    at.part = 0;
    at.idle = now_ - at.idle_since;
    const double share = load(at, at.running->task.plan);
    // A draw's delay is paid once: a second task of the same draw sleeps what is left of it.
    if (at.running->task.draw != at.drawn) {
        at.drawn = at.running->task.draw;
        at.factor = times_.slowdowns.draw(worker, at.drawn, share);
        const auto delay = times_.delays.draw(worker, at.drawn, share);
        at.reception = times_.delays.on_reception() ? delay : 0;
        at.wake = now_ + delay - at.reception;
    }
    at.delay = std::max(0.0, at.wake - now_);
    compute(worker, std::max(now_, at.wake));
}

// The parts of the next message, from that moment on.
void VirtualFleet::compute(Worker worker, Seconds from)
{
    auto& at = machine(worker);
    const auto& plan = *at.running->task.plan;
    const auto last = plan.each_when_ready ? at.part + 1 : plan.parts.size();
    std::int64_t rows = 0;
    for (auto part = at.part; part < last; ++part) rows += at.rows[part];
    const auto seconds = static_cast<double>(rows) * times_.row_time * at.factor;
    events_.push(
        {from + seconds + at.reception, Kind::finished, worker, at.running->task.task, at.epoch});
}

// A message is ready now. @return its contributions if they arrive at once
std::vector<Arrival> VirtualFleet::finish(Worker worker)
{
    auto& at = machine(worker);
    const auto& order = *at.running;
    const auto& plan = order.task.plan;
    const auto last = plan->each_when_ready ? at.part + 1 : plan->parts.size();
    const auto count = static_cast<std::int64_t>(last - at.part);
    const auto bytes = header_bytes + count * recipes_.payload(worker);
    bytes_received_ += bytes;
    std::vector<Arrival> arrivals;
    for (; at.part < last; ++at.part) {
        const auto part = static_cast<int>(at.part);
        const auto [oldest, newest] = versions_of(plan->parts[at.part], order.task.inputs);
        arrivals.push_back(
            {.worker = worker,
             .task = order.task.task,
             .part = part,
             .draw = order.task.draw,
             .samples = at.rows[at.part],
             .oldest = oldest,
             .newest = newest,
             .sent = order.sent,
             .arrived = now_,
             .compute = static_cast<double>(at.rows[at.part]) * times_.row_time * at.factor,
             .delay = std::exchange(at.delay, 0) + at.reception,
             .idle = std::exchange(at.idle, 0),
             .send = at.send,
             .bytes = bytes / count,
             .handle = recipes_.add(worker, plan, part, order.task.draw, order.points)});
    }
    if (at.part < plan->parts.size()) {
        compute(worker, now_);
    } else {
        at.running.reset();
        ++at.epoch;
        at.idle_since = now_;
        if (!at.next.empty()) begin(worker);
    }
    const auto& network = times_.network;
    if (network.free()) return arrivals;
    auto& port = network.shared_port ? receiving_ : at.link;
    const auto arrived = port.pass(now_ + network.latency, network.wire(bytes));
    at.send = arrived - now_;
    const auto number = messages_.take();
    events_.push({arrived, Kind::arrival, worker, arrivals[0].task, number});
    messages_.at(number) = std::move(arrivals);
    return {};
}

std::uint64_t VirtualFleet::fingerprint(std::size_t handle)
{
    return recipes_.dry() ? recipes_.fingerprint(handle) : Fleet::fingerprint(handle);
}

}  // namespace quorate
