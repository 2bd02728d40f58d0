// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/virtual_fleet.hpp"

#include <algorithm>
#include <cmath>

#include <limits>

#include "base/error.hpp"

namespace quorate {

namespace {

constexpr std::int64_t header_bytes = 64;  // about what a message over MPI has beside its payload

// Removes the first element. O(elements), but these queues mostly hold one.
template <class T>
T take_first(std::vector<T>& queue)
{
    auto first = std::move(queue.front());
    queue.erase(queue.begin());
    return first;
}

}  // namespace

VirtualFleet::VirtualFleet(Recipes& recipes, const VirtualTimes& times)
    : recipes_(recipes), times_(times), info_(recipes.workers()), machines_(info_.size()),
      standby_(times.standby), machines_used_(static_cast<int>(info_.size()))
{
    for (int i = 0; i < machines_used_; ++i) machine(i).number = i;
}

void VirtualFleet::dispatch(const Dispatch& task, PointList inputs)
{
    auto& to = machine(task.worker);
    // The latest task wins: it takes the place of those that wait to be sent. A task that follows
    // others replaces only those that would repeat.
    std::erase_if(to.waiting, [&](const Order& waiting) {
        return task.control.replaces(waiting.task.control);
    });
    to.waiting.push_back({task, std::move(inputs), now_});
    if (!std::exchange(to.queued, true)) outbox_.push_back(task.worker);
}

void VirtualFleet::close(Worker worker, TaskId task)
{
    closed_.emplace_back(worker, task);
    std::erase_if(machine(worker).waiting,
                  [&](const Order& order) { return order.task.task == task; });
}

std::vector<Arrival> VirtualFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    while (!stop && changes_.empty()) {
        const bool due =
            !events_.empty() && events_.top().time <= now_ && events_.top().kind < Kind::again;
        if (!due && until > now_ && post()) continue;
        // Deliveries at the time of the deadline come after it: the scheme acts on the deadline
        // first.
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
        case Kind::delivery:
            // If the worker has gone meanwhile, the task is no longer under way and is lost.
            if (!at.travelling.empty() && at.travelling.front().task.task == event.task)
                deliver(event.worker, take_first(at.travelling));
            break;
        case Kind::change: notice(event.worker, static_cast<Change::Kind>(event.what)); break;
        case Kind::cancel:
            drop(at, event.task);
            if (!at.tasks.is_running() && at.tasks.has_next()) begin(event.worker);
            break;
        case Kind::again:
            if (event.what == at.epoch && !at.tasks.is_running() && at.tasks.has_next())
                begin(event.worker);
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
    for (const auto& [worker, task] : closed_) cancel(worker, task);
    closed_.clear();
    return any;
}

void VirtualFleet::send(Worker worker)
{
    auto& to = machine(worker);
    auto order = take_first(to.waiting);
    const auto& inputs = order.task.inputs;
    const auto unknown = std::ranges::count_if(
        inputs, [&](Version v) { return std::ranges::find(to.held, v) == to.held.end(); });
    const auto bytes =
        header_bytes + unknown * recipes_.payload(worker) + recipes_.operand_bytes(order.task);
    bytes_sent_ += bytes;
    if (to.gone) return;
    to.held = inputs;
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

void VirtualFleet::change(const Change& wanted)
{
    auto& at = machine(wanted.worker);
    switch (wanted.kind) {
        case Change::Kind::joined:
            at.gone = false;
            at.idle_since = now_;
            changes_.push_back(wanted);
            break;
        case Change::Kind::left:
            clear(at);
            at.gone = true;
            changes_.push_back(wanted);
            break;
        case Change::Kind::died:
            clear(at);
            at.gone = true;
            at.cache.clear();
            events_.push({now_ + times_.timeout, Kind::change, wanted.worker, 0,
                          static_cast<std::size_t>(wanted.kind)});
            break;
        default: break;  // the engine never asks for other changes
    }
}

void VirtualFleet::add_points(std::map<Version, Point>& points) const
{
    for (const auto& at : machines_)
        for (const auto& [block, cached] : at.cache)
            points.emplace(cached->gradient.version, cached->point);
}

// Reports a death when the coordinator notices it, or a join when a standby machine has loaded its
// rows. After a death a standby machine, if there is one, begins to load.
void VirtualFleet::notice(Worker worker, Change::Kind kind)
{
    changes_.push_back({kind, worker});
    auto& at = machine(worker);
    if (kind == Change::Kind::joined) {
        at.gone = false;
        at.idle_since = now_;
    } else if (standby_ > 0) {
        --standby_;
        changes_.push_back({Change::Kind::loading, worker});
        at.number = machines_used_++;
        at.straggling.forget();
        events_.push({now_ + loading(worker), Kind::change, worker, 0,
                      static_cast<std::size_t>(Change::Kind::joined)});
    }
}

// Drops all tasks of a worker: those it has, and those that wait or travel.
void VirtualFleet::clear(Machine& at)
{
    if (at.tasks.is_running()) leave_off(at);
    at.tasks = {};
    at.waiting.clear();
    at.travelling.clear();
    at.held.clear();
    ++at.epoch;
}

void VirtualFleet::reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members)
{
    for (auto& at : machines_) {
        clear(at);
        at.cache.clear();
        at.begun.reset();
        at.measured.reset();
        at.idle_since = now_;
    }
    closed_.clear();
    recipes_.reencode(std::move(coding), members);
    for (const auto worker : members) machine(worker).ready = now_ + loading(worker);
}

// Tells a worker to drop a closed task, unless a newer task replaces it anyway.
void VirtualFleet::cancel(Worker worker, TaskId task)
{
    auto& at = machine(worker);
    if (!at.tasks.is_running() || !at.waiting.empty() || !at.travelling.empty()) return;
    if (!at.tasks.any_of([&](const Order& one) { return one.id() == task; })) return;
    const auto latency = times_.network.free() ? 0 : times_.network.latency;
    events_.push({now_ + latency, Kind::cancel, worker, task, 0});
}

void VirtualFleet::drop(Machine& at, TaskId last)
{
    at.tasks.cancel(last, [&] { stop(at); });
}

// Ends the running task before its time.
void VirtualFleet::stop(Machine& at)
{
    leave_off(at);
    ++at.epoch;
    at.idle_since = now_;
}

void VirtualFleet::deliver(Worker worker, Order order)
{
    auto& at = machine(worker);
    at.tasks.add(std::move(order), [&] { stop(at); });
    if (!at.tasks.is_running()) begin(worker);
}

// Finds out what the running task computes. @return the rows that it asks for
std::int64_t VirtualFleet::measure(Machine& at)
{
    const auto& task = at.tasks.running().task;
    const auto& plan = task.plan;
    at.updates.clear();
    if (std::ranges::any_of(plan->parts, is_cached)) {
        at.measured.reset();
        plan_updates(at);
    } else if (at.measured != plan) {
        at.measured = plan;
        at.rows.clear();
        for (const auto& part : plan->parts) at.rows.push_back(recipes_.load(task.worker, part));
    }
    const auto& budget = task.control.budget;
    if (budget.samples > 0) return recipes_.batches().samples(budget, plan->parts[0]);
    std::int64_t rows = 0;
    for (const auto part : at.rows) rows += part;
    return rows;
}

// Finds out which cached gradients the running task computes, and evicts those that it does not
// name.
void VirtualFleet::plan_updates(Machine& at)
{
    const auto& task = at.tasks.running().task;
    at.rows.assign(task.plan->parts.size(), 0);
    std::map<int, Version> versions;
    for (const auto& [block, cached] : at.cache) versions[block] = cached->gradient.version;
    bool goes_on = false;
    for (std::size_t part = 0; part < at.rows.size(); ++part) {
        const auto& items = task.plan->parts[part].items;
        std::erase_if(at.cache, [&](const auto& cached) {
            return std::ranges::find(items, cached.first, &Item::block) == items.end();
        });
        for (const auto& [item, version] :
             cache_updates(task.plan->parts[part], task.inputs, versions, at.begun)) {
            auto rows = recipes_.batches().samples(item->block);
            if (at.begun == std::pair(item->block, version)) {
                rows -= at.begun_rows;
                goes_on = true;
            }
            at.updates.push_back({item, version, rows});
            at.rows[part] += rows;
        }
    }
    if (!goes_on) at.begun.reset();
}

// Keeps what the running task, which ends before its time, has computed of cached gradients.
void VirtualFleet::leave_off(Machine& at)
{
    if (at.updates.empty()) return;
    const auto row = times_.stragglers.row_time * at.straggling.slowdown();
    auto rows = now_ <= at.from ? 0
                : row > 0       ? static_cast<std::int64_t>((now_ - at.from) / row)
                                : std::numeric_limits<std::int64_t>::max();
    for (const auto& [item, version, left] : at.updates) {
        if (rows < left) {
            if (rows == 0) return;
            const auto all = recipes_.batches().samples(item->block);
            at.begun = {item->block, version};
            at.begun_rows = all - left + rows;
            return;
        }
        rows -= left;
        cache(at, *item, version);
    }
}

void VirtualFleet::cache(Machine& at, const Item& item, Version version)
{
    const auto& [task, points, sent] = at.tasks.running();
    const auto input = std::find(task.inputs.begin(), task.inputs.end(), version);
    at.cache[item.block] =
        recipes_.cache(task.worker, item.block, version,
                       points[static_cast<std::size_t>(input - task.inputs.begin())],
                       task.control.key(at.draw, version));
    if (at.begun == std::pair(item.block, version)) at.begun.reset();
}

void VirtualFleet::begin(Worker worker)
{
    auto& at = machine(worker);
    if (now_ < at.ready) {
        events_.push({at.ready, Kind::again, worker, 0, at.epoch});
        return;
    }
    at.tasks.begin();
    at.part = 0;
    at.idle = now_ - at.idle_since;
    const auto& task = at.tasks.running().task;
    at.draw = task.control.draw == own_count ? at.count++ : task.control.draw;
    const double share =
        static_cast<double>(measure(at)) / static_cast<double>(recipes_.batches().samples());
    at.straggling.begin(times_.stragglers, at.number, at.draw, share, now_);
    const auto ends = now_ + task.control.budget.seconds;
    at.delay = std::max(0.0, std::min(at.straggling.delayed_until(), ends) - now_);
    at.from = std::max(now_, at.straggling.delayed_until());
    if (task.control.budget.limited()) {
        compute_limited(worker, ends);
    } else {
        compute(worker, at.from);
    }
}

// Computes a task with a budget, which has one part and one item: whole micro-batches, or steps of
// descent, until it has its samples or its time is over.
void VirtualFleet::compute_limited(Worker worker, Seconds ends)
{
    auto& at = machine(worker);
    const auto& task = at.tasks.running().task;
    const auto& budget = task.control.budget;
    const auto& item = task.plan->parts[0].items[0];
    const bool descends = item.operation == Item::Operation::descent;
    const auto row = times_.stragglers.row_time * at.straggling.slowdown();
    if (row <= 0 && budget.samples == 0)
        throw Failure("tasks that end with their time need rows that take some: give --row-time");
    const auto whole =
        descends ? recipes_.batches().samples(item.block) : recipes_.micro_batch(budget);
    at.limited = budget.samples;
    const auto asked = recipes_.batches().samples(budget, task.plan->parts[0]);
    auto done = at.from + static_cast<double>(asked) * row;
    if (budget.samples == 0 || done > ends) {
        // The small number makes a micro-batch that ends exactly at the limit count despite
        // rounding.
        const auto count = std::floor((ends - at.from) / (static_cast<double>(whole) * row) + 1e-9);
        at.limited =
            std::max<std::int64_t>(0, static_cast<std::int64_t>(count)) * (descends ? 1 : whole);
        done = ends;
    }
    at.computed_limited = std::max(0.0, done - at.from);
    events_.push(
        {done + at.straggling.message_delay(), Kind::finished, worker, task.task, at.epoch});
}

// Computes the parts of the next message, beginning at the time `from`.
void VirtualFleet::compute(Worker worker, Seconds from)
{
    auto& at = machine(worker);
    const auto& plan = *at.tasks.running().task.plan;
    const auto last = plan.each_when_ready ? at.part + 1 : plan.parts.size();
    std::int64_t rows = 0;
    for (auto part = at.part; part < last; ++part) rows += at.rows[part];
    const auto seconds =
        static_cast<double>(rows) * times_.stragglers.row_time * at.straggling.slowdown();
    events_.push({from + seconds + at.straggling.message_delay(), Kind::finished, worker,
                  at.tasks.running().task.task, at.epoch});
}

Arrival VirtualFleet::contribution(Worker worker, std::size_t part)
{
    auto& at = machine(worker);
    const auto& [task, points, sent] = at.tasks.running();
    const auto& asked = task.plan->parts[part];
    const bool limited = task.control.budget.limited();
    Recipes::Made made{.worker = worker,
                       .part = static_cast<int>(part),
                       .draw = at.draw,
                       .samples = limited ? at.limited : recipes_.samples(task, asked),
                       .inputs = points};
    auto [oldest, newest] = versions_of(asked, task.inputs);
    std::vector<Version> versions;
    if (is_cached(asked)) {
        for (const auto& item : asked.items) {
            made.cached.push_back(at.cache.at(item.block));
            versions.push_back(made.cached.back()->gradient.version);
        }
        const auto [low, high] = std::ranges::minmax(versions);
        oldest = low;
        newest = high;
    }
    const auto samples = made.samples;
    return {{.worker = worker,
             .part = static_cast<int>(part),
             .task = task.task,
             .draw = at.draw,
             .samples = samples,
             .oldest = oldest,
             .newest = newest,
             .compute = limited ? at.computed_limited
                                : static_cast<double>(at.rows[part]) * times_.stragglers.row_time *
                                      at.straggling.slowdown(),
             .delay = std::exchange(at.delay, 0) + at.straggling.message_delay(),
             .idle = std::exchange(at.idle, 0),
             .send = at.send},
            std::move(versions),
            sent,
            now_,
            0,
            recipes_.add(task, std::move(made))};
}

// Sends the message that is complete now. @return its contributions if messages take no time
std::vector<Arrival> VirtualFleet::finish(Worker worker)
{
    auto& at = machine(worker);
    const auto task = at.tasks.running().task.task;
    const auto& plan = *at.tasks.running().task.plan;
    for (const auto& [item, version, left] : at.updates) cache(at, *item, version);
    at.updates.clear();
    const auto last = plan.each_when_ready ? at.part + 1 : plan.parts.size();
    std::vector<Arrival> arrivals;
    auto bytes = header_bytes;
    for (; at.part < last; ++at.part) {
        bytes += recipes_.payload(worker, plan.parts[at.part]);
        arrivals.push_back(contribution(worker, at.part));
    }
    const auto count = static_cast<std::int64_t>(arrivals.size());
    bytes_received_ += bytes;
    for (auto& arrival : arrivals) arrival.bytes = bytes / count;
    if (at.part < plan.parts.size()) {
        compute(worker, now_);
    } else {
        at.tasks.finish();
        ++at.epoch;
        at.idle_since = now_;
        // The next task begins after all other events of this time, so that it finds what has just
        // come.
        if (at.tasks.has_next()) events_.push({now_, Kind::again, worker, task, at.epoch});
    }
    const auto& network = times_.network;
    if (network.free()) return arrivals;
    auto& port = network.shared_port ? receiving_ : at.link;
    const auto arrived = port.pass(now_ + network.latency, network.wire(bytes));
    at.send = arrived - now_;
    const auto number = messages_.take();
    events_.push({arrived, Kind::arrival, worker, task, number});
    messages_.at(number) = std::move(arrivals);
    return {};
}

std::uint64_t VirtualFleet::fingerprint(std::size_t handle)
{
    return recipes_.dry() ? recipes_.fingerprint(handle) : Fleet::fingerprint(handle);
}

}  // namespace quorate
