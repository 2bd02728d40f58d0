// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/virtual_fleet.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "fleet/nodes.hpp"

namespace quorate {

namespace {

constexpr std::int64_t release_bytes = 16;  // of a contribution that its node may drop

// Mixes the bits of a key, as SplitMix64 does (Steele, Lea, Flood, OOPSLA 2014): Philox would take
// as long as all else that an event costs.
std::uint64_t mixed(std::uint64_t key)
{
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
    key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
    return key ^ (key >> 31);
}

// Returns the turn of a worker's events of a task among those of others at the same time.
std::uint32_t turn_of(std::uint64_t seed, Worker worker, TaskId task)
{
    const auto of_worker =
        mixed(seed + 0x9e3779b97f4a7c15 * (1 + static_cast<std::uint64_t>(worker)));
    return static_cast<std::uint32_t>(mixed(of_worker + static_cast<std::uint64_t>(task)) >> 32);
}

}  // namespace

VirtualFleet::VirtualFleet(Recipes& recipes, const VirtualTimes& times,
                           const std::vector<VirtualPlace>& places)
    : recipes_(recipes), times_(times), info_(recipes.workers()), standby_(times.standby),
      machines_used_(static_cast<int>(info_.size()))
{
    links_.reserve(info_.size());
    busy_.resize(info_.size());
    for (Worker worker = 0; worker < machines_used_; ++worker)
        links_.push_back({.worker = {recipes, times_.stragglers, worker}});
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& [rank, host] = places[i];
        info_[i].rank = rank;
        info_[i].host = host;
        info_[i].shared = host == places[0].host;
        links_[i].worker.replace_machine(rank - 1);
    }
    if (places.empty()) return;
    const Nodes all(info_);
    nodes_.resize(all.names.size());
    for (Worker worker = 0; worker < machines_used_; ++worker) {
        const auto& host = info_[static_cast<std::size_t>(worker)].host;
        node_of_.push_back(static_cast<int>(all.number(host)));
        node(node_of(worker)).workers.push_back(worker);
    }
    std::vector<int> hosts = {0};
    hosts.insert(hosts.end(), node_of_.begin(), node_of_.end());
    std::vector<double> rates(nodes_.size(), times_.network.bandwidth);
    if (!times_.network.shared_port) rates[0] = std::numeric_limits<double>::infinity();
    links_of_nodes_ = {std::move(hosts), std::move(rates)};
}

// Takes note of the points that a worker has from now on.
void VirtualFleet::note_points(Worker worker, const Versions& versions)
{
    auto& to = link(worker);
    if (auto* node = adding_node(worker)) {
        for (const auto version : versions) ++node->points[version];
        for (const auto version : to.points)
            if (--node->points[version] == 0) node->points.erase(version);
    }
    to.points = versions;
}

void VirtualFleet::dispatch(const Dispatch& task, PointList inputs)
{
    auto& to = link(task.worker);
    // The latest task wins: it takes the place of those that wait to be sent. A task that follows
    // others replaces only those that would repeat.
    to.orders.erase(std::remove_if(to.waiting(), to.orders.end(),
                                   [&](const Order& waiting) {
                                       return task.control.replaces(waiting.context->control);
                                   }),
                    to.orders.end());
    if (!fresh_ || !fresh_->are_of(task, inputs)) fresh_ = new TaskContext(task, std::move(inputs));
    const bool was_busy = std::exchange(busy_[static_cast<std::size_t>(task.worker)], true);
    const bool same_plan = !was_busy && to.worker.plan() == task.plan.get();
    to.orders.push_back({task.task, same_plan ? nullptr : task.plan, fresh_, task.local});
    if (auto* node = adding_node(task.worker)) {
        if (!std::exchange(node->queued, true)) served_.push_back(node_of(task.worker));
    } else if (!std::exchange(to.queued, true)) {
        if (is_near(task.worker))
            near_.push_back(task.worker);
        else
            outbox_.push_back(task.worker);
    }
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
        prefetch(&link(soon.worker), Link::read_by_finish);
        if (soon.kind == Kind::finished) expected_.push_back({soon.worker, soon.task});
    });
}

VirtualFleet::Event VirtualFleet::new_event(Seconds time, Kind kind, Worker worker, TaskId task,
                                            std::size_t what) const
{
    return {time,   task,
            worker, static_cast<std::uint32_t>(what),
            kind,   turn_of(times_.seed, worker, task)};
}

std::vector<Arrival> VirtualFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    expected_.clear();
    if (!inbox_.empty() && !stop && changes_.empty()) {
        auto arrivals = std::move(inbox_.front());
        inbox_.pop_front();
        for (auto& arrival : arrivals) arrival.arrived = now_;
        tell(arrivals);
        return arrivals;
    }
    while (!stop && changes_.empty()) {
        expect_to_leave();
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
        if (auto arrivals = take(event); !arrivals.empty()) {
            tell(arrivals);
            return arrivals;
        }
    }
    return {};
}

std::vector<Arrival> VirtualFleet::take(const Event& event)
{
    auto& to = link(event.worker);
    auto& worker = to.worker;
    switch (event.kind) {
        case Kind::added:
            messages_.at(event.what).complete = now_;
            pass_in(event.worker, 0, event.what);
            break;
        case Kind::shared: receive_shared(event.what); break;
        case Kind::left:
            if (event.time == expected_to_leave_) expected_to_leave_ = never;
            for (const auto number : links_of_nodes_.leave(now_)) leave(number);
            break;
        case Kind::arrival: {
            const auto complete = messages_.at(event.what).complete;
            auto arrivals = std::move(messages_.at(event.what).arrivals);
            messages_.give_back(event.what);
            if (arrivals.empty())
                --awaited_;
            else if (!nodes_.empty())
                worker.sent_in(now_ - complete);
            for (auto& arrival : arrivals) arrival.arrived = now_;
            return arrivals;
        }
        case Kind::finished:
            if (event.what == worker.epoch()) return finish(event.worker);
            break;  // the task was dropped meanwhile
        case Kind::delivery:
            if (event.what)
                receive(event.worker, event.task);
            else
                arrive(event.worker, event.task);
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
    for (; !near_.empty(); near_.pop_front()) {
        auto& to = link(near_.front());
        to.queued = false;
        for (; to.waits(); any = true) send(near_.front());
    }
    const bool one_port = !network.free() && network.shared_port && nodes_.empty();
    while (!outbox_.empty()) {
        if (one_port && sending_.free_at() > now_) {
            if (std::exchange(wake_at_port_, sending_.free_at()) != sending_.free_at())
                add_event(sending_.free_at(), Kind::port_free, 0, 0, 0);
            break;
        }
        const auto worker = outbox_.front();
        outbox_.pop_front();
        auto& to = link(worker);
        to.queued = to.waits() && !to.leaving;
        if (!to.queued) continue;
        send(worker);
        any = true;
        to.queued = to.waits() && !to.leaving;
        if (to.queued) outbox_.push_back(worker);
    }
    while (!served_.empty() && !(network.shared_port && to_nodes_ > 0)) {
        auto& next = node(served_.front());
        served_.pop_front();
        any |= send_to_node(next);
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
    const auto& inputs = order->context->inputs;
    const auto unknown = std::ranges::count_if(
        inputs, [&](Version v) { return std::ranges::find(to.points, v) == to.points.end(); });
    const auto points = shares_ ? 0 : unknown * recipes_.payload(worker);
    const auto bytes = header_bytes + points + recipes_.operand_bytes(*order->context);
    bytes_sent_ += bytes;
    if (to.gone) {
        to.orders.erase(order);
        return;
    }
    note_points(worker, inputs);
    if (shares_) note_made(inputs);
    order->sent = now_;
    const auto id = order->id();
    if (is_free(worker)) {
        if (hold_back(worker, *order)) {
            ++to.travelling;
        } else if (shares_) {
            ++to.travelling;
            hold(worker, id);
        } else {
            deliver(worker, order);
        }
        return;
    }
    ++to.travelling;
    if (!nodes_.empty()) {
        to.leaving = true;
        pass_out(worker, bytes,
                 {{new_event(0, Kind::delivery, worker, id)}, Passing::Holds::worker, worker});
        return;
    }
    const auto& network = times_.network;
    const auto wire = network.wire(bytes);
    const auto left = network.shared_port ? sending_.pass(now_, wire) : now_ + wire;
    add_event(left + network.latency, Kind::delivery, worker, id, 0);
}

// Carries out a change that the engine wants: that a worker joins, leaves or dies. A death is
// reported when the coordinator notices it.
void VirtualFleet::change(const Change& wanted)
{
    auto& to = link(wanted.worker);
    if (wanted.kind == Change::Kind::joined) {
        join(wanted.worker);
    } else {
        clear(wanted.worker);
        to.gone = true;
    }
    if (wanted.kind != Change::Kind::died) {
        changes_.push_back(wanted);
        return;
    }
    to.dead = true;
    to.worker.forget_gradients();
    add_event(now_ + times_.timeout, Kind::change, wanted.worker, 0,
              static_cast<std::size_t>(wanted.kind));
}

void VirtualFleet::join(Worker worker)
{
    auto& to = link(worker);
    to.gone = to.dead = to.noticed = false;
    to.worker.wait_from(now_);
}

// Reports a death when the coordinator notices it, or a join when a standby machine has loaded its
// rows. After a death a standby machine, if there is one, begins to load.
void VirtualFleet::notice(Worker worker, Change::Kind kind)
{
    changes_.push_back({kind, worker});
    if (kind == Change::Kind::joined) {
        join(worker);
        return;
    }
    link(worker).noticed = true;
    if (standby_ > 0) {
        --standby_;
        link(worker).replaced = true;
        changes_.push_back({Change::Kind::loading, worker});
        link(worker).worker.replace_machine(machines_used_++);
        add_event(now_ + loading(worker), Kind::change, worker, 0,
                  static_cast<std::size_t>(Change::Kind::joined));
    }
}

// Drops all tasks of a worker: those it has, and those that wait or travel.
void VirtualFleet::clear(Worker worker)
{
    auto& to = link(worker);
    to.worker.clear(now_);
    to.orders.clear();
    to.travelling = 0;
    note_points(worker, {});
}

void VirtualFleet::reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members)
{
    for (Worker worker = 0; worker < std::ssize(links_); ++worker) {
        clear(worker);
        link(worker).worker.reset(now_);
    }
    for (auto& node : nodes_) {
        node.payload = node.sent = 0;
        node.arriving = no_point;
        node.points.clear();
    }
    closed_.clear();
    recipes_.reencode(std::move(coding), members);
    if (shares_) deal_shares();
    for (const auto worker : members) link(worker).ready = now_ + loading(worker);
}

// Tells a worker to drop a closed task, unless a newer task replaces it anyway.
void VirtualFleet::cancel(Worker worker, TaskId task)
{
    auto& to = link(worker);
    const auto& way = to.worker.downlink();
    const bool is_late = way.holds(now_) && to.on_the_way(task) != to.waiting();
    if (!is_late && (!to.worker.is_running() || !to.orders.empty() || !to.worker.has(task))) return;
    const auto latency = is_free(worker) ? 0 : times_.network.latency;
    add_event(way.after(now_ + latency), Kind::cancel, worker, task, 0);
}

// Holds back a task that has come to the host of a worker, if it is late: its delivery is an event
// then. @return whether it is
bool VirtualFleet::hold_back(Worker worker, const Order& order)
{
    const auto until = link(worker).worker.late_until(order, now_);
    if (!until) return false;
    auto event = new_event(*until, Kind::delivery, worker, order.id(), true);
    event.turn = turn_of(times_.seed, worker, 0);  // so that tasks of a worker come in their order
    events_.push(event);
    return true;
}

// A task comes to the host of a worker, unless the worker has gone meanwhile.
void VirtualFleet::arrive(Worker worker, TaskId task)
{
    auto& to = link(worker);
    const auto order = to.on_the_way(task);
    if (order != to.waiting() && !hold_back(worker, *order)) receive(worker, task);
}

// A task comes to its worker. If that has gone meanwhile, the task is no longer under way.
void VirtualFleet::receive(Worker worker, TaskId task)
{
    auto& to = link(worker);
    if (shares_) {
        hold(worker, task);
    } else if (to.travelling > 0 && to.orders.front().id() == task) {
        --to.travelling;
        deliver(worker, to.orders.begin());
    }
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
    if (adding_node(worker))
        bytes_sent_ += release_bytes;  // by and by
    else if (!shares_)
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
    if (is_free(worker)) return arrivals;
    const auto number = messages_.take();
    messages_.at(number) = {std::move(arrivals), bytes, now_};
    pass_in(worker, task, number);
    return {};
}

// Sends a message from where a worker is to the coordinator.
void VirtualFleet::pass_in(Worker worker, TaskId task, std::size_t number)
{
    auto& from = link(worker);
    const auto& network = times_.network;
    const auto bytes = messages_.at(number).bytes;
    if (!nodes_.empty()) {
        pass(
            worker + 1, 0, bytes,
            {{new_event(0, Kind::arrival, worker, task, number)}, Passing::Holds::nothing, worker});
        return;
    }
    auto& port = network.shared_port ? receiving_ : from.port;
    const auto arrived = port.pass(now_ + network.latency, network.wire(bytes));
    from.worker.sent_in(arrived - now_);
    add_event(arrived, Kind::arrival, worker, task, number);
}

}  // namespace quorate
