// SPDX-License-Identifier: BSD-2-Clause
// The part of VirtualFleet that sends points to nodes and has these add up contributions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "fleet/nodes.hpp"
#include "fleet/virtual_fleet.hpp"

namespace quorate {

namespace {

constexpr std::int64_t term_bytes = 40;  // of a contribution in the order of a sum
// Adding a number up reads it and the sum, which is written back from a cache at some time.
constexpr std::int64_t moves_to_add = 2;

}  // namespace

void VirtualFleet::set_groups(std::span<const int> groups)
{
    for (std::size_t i = 0; i < info_.size(); ++i) {
        info_[i].group = groups[i];
        groups_ = std::max(groups_, groups[i] + 1);
    }
}

void VirtualFleet::aggregate(std::span<const int> groups)
{
    set_groups(groups);
    for (std::size_t i = 1; i < nodes_.size(); ++i)
        nodes_[i].adds_up = nodes_[i].workers.size() > 1;
}

void VirtualFleet::pass_out(Worker worker, std::int64_t bytes, Passing passing)
{
    if (!times_.network.free()) pass(0, worker + 1, bytes, std::move(passing));
}

// Sends a message through shared links.
// @param from, to  the coordinator is 0, worker i is i + 1
void VirtualFleet::pass(int from, int to, std::int64_t bytes, Passing passing)
{
    if (passing.holds == Passing::Holds::nodes) ++to_nodes_;
    const auto number = passing_.take();
    passing_.at(number) = std::move(passing);
    links_of_nodes_.send(from, to, bytes, number, now_);
}

// A message has left its links: it will be there, and whoever waited for that may send.
void VirtualFleet::leave(std::size_t number)
{
    const auto& passing = passing_.at(number);
    for (auto event : passing.then) {
        event.time += now_ + times_.network.latency;
        events_.push(event);
    }
    if (passing.holds == Passing::Holds::nodes) --to_nodes_;
    if (passing.holds == Passing::Holds::worker) {
        auto& to = link(passing.worker);
        to.leaving = false;
        if (to.waits() && !std::exchange(to.queued, true)) outbox_.push_back(passing.worker);
    }
    passing_.give_back(number);
}

// Notes when the next message leaves its links. Messages that begin or end meanwhile change that;
// an event of an earlier opinion does nothing.
void VirtualFleet::expect_to_leave()
{
    if (nodes_.empty()) return;
    const auto next = links_of_nodes_.next();
    if (std::exchange(expected_to_leave_, next) != next && next != never)
        add_event(next, Kind::left, 0, 0, 0);
}

VirtualFleet::Node* VirtualFleet::adding_node(Worker worker)
{
    if (groups_ == 1 || link(worker).replaced) return nullptr;
    auto& of_worker = node(node_of(worker));
    return of_worker.adds_up ? &of_worker : nullptr;
}

std::int64_t VirtualFleet::payload(Node& node)
{
    if (node.payload == 0) node.payload = recipes_.payload(node.workers);
    return node.payload;
}

// Sends what the tasks that wait for workers of a node need: a piece of a point that it does not
// have, and the tasks whose points it has. @return whether something was sent
bool VirtualFleet::send_to_node(Node& node)
{
    node.queued = false;
    bool any = false;
    if (!is_named(node, node.arriving)) {
        any = hand_out(node);
        node.arriving = missing_point(node);
        node.sent = 0;
        if (node.arriving == no_point) return any;
    }
    const auto& network = times_.network;
    const auto left = payload(node) - node.sent;
    const bool whole = network.free() || !network.shared_port;
    const auto piece = whole ? left : std::min(left, point_piece * recipes_.number());
    bytes_sent_ += header_bytes + piece;
    pass_out(node.workers[0], header_bytes + piece, {{}, Passing::Holds::nodes, 0});
    node.sent += piece;
    if (piece == left) {
        node.points.try_emplace(std::exchange(node.arriving, no_point), 0);
        hand_out(node);
    }
    const bool waits =
        std::ranges::any_of(node.workers, [this](Worker one) { return link(one).waits(); });
    if (waits) {
        node.queued = true;
        served_.push_front(node_of(node.workers[0]));
    }
    return true;
}

// Whether a task that waits for a worker of a node needs this point.
bool VirtualFleet::is_named(const Node& node, Version version)
{
    return version != no_point && std::ranges::any_of(node.workers, [&](Worker worker) {
               auto& to = link(worker);
               return std::any_of(to.waiting(), to.orders.end(), [&](const Order& order) {
                   return std::ranges::find(order.context->inputs, version) !=
                          order.context->inputs.end();
               });
           });
}

// A point that a task waits for and the node does not have; `no_point`: there is none.
Version VirtualFleet::missing_point(const Node& node)
{
    for (const auto worker : node.workers) {
        auto& to = link(worker);
        for (auto order = to.waiting(); order != to.orders.end(); ++order)
            for (const auto version : order->context->inputs)
                if (!node.points.contains(version)) return version;
    }
    return no_point;
}

// Sends the tasks whose points the node has. @return whether there was one
bool VirtualFleet::hand_out(Node& node)
{
    const auto is_ready = [&](const Order& order) {
        return std::ranges::all_of(order.context->inputs,
                                   [&](Version v) { return node.points.contains(v); });
    };
    std::int64_t bytes = 0;
    std::vector<Version> named;
    std::vector<std::pair<Worker, TaskId>> ready;
    for (const auto worker : node.workers) {
        auto& to = link(worker);
        for (auto order = to.waiting(); order != to.orders.end() && is_ready(*order); ++order) {
            bytes += header_bytes + recipes_.operand_bytes(*order->context);
            for (const auto version : order->context->inputs)
                if (std::ranges::find(to.points, version) == to.points.end())
                    named.push_back(version);
            ready.emplace_back(worker, order->id());
        }
    }
    if (ready.empty()) return false;
    std::ranges::sort(named);
    bytes += header_bytes * std::distance(named.begin(), std::unique(named.begin(), named.end()));
    bytes_sent_ += bytes;
    Passing passing = {{}, Passing::Holds::nodes, 0};
    for (const auto& [worker, task] : ready) {
        auto& to = link(worker);
        const auto order = to.waiting();
        if (to.gone) {
            to.orders.erase(order);
            continue;
        }
        note_points(worker, order->context->inputs);
        order->sent = now_;
        if (is_free(worker)) {
            deliver(worker, order);
            continue;
        }
        passing.then.push_back(new_event(0, Kind::delivery, worker, task));
        ++to.travelling;
    }
    pass_out(node.workers[0], bytes, std::move(passing));
    std::erase_if(node.points, [&](const auto& point) {
        return point.second == 0 && !is_named(node, point.first);
    });
    return true;
}

// The workers whose contributions a sum has.
std::vector<Worker> VirtualFleet::workers_of(std::span<const Weighted> terms)
{
    std::vector<Worker> workers;
    for (const auto& term : terms)
        if (workers.empty() || workers.back() != term.worker) workers.push_back(term.worker);
    return workers;
}

// Seconds that adding up takes.
Seconds VirtualFleet::adding(std::span<const Weighted> terms) const
{
    const auto width = static_cast<std::int64_t>(bytes_of(recipes_.precision()));
    double moved = 0;  // bytes
    for (const auto& term : terms)
        moved += static_cast<double>(moves_to_add * width *
                                     info_[static_cast<std::size_t>(term.worker)].columns);
    return moved / times_.network.memory_bandwidth;
}

// Has the leader of a node add up. What standby machines have contributed travels with the order.
void VirtualFleet::order_sum(Node& node, std::span<const Weighted> terms)
{
    const auto width = static_cast<std::int64_t>(bytes_of(recipes_.precision()));
    std::int64_t asked = header_bytes;
    for (const auto& term : terms) {
        asked += term_bytes;
        if (link(term.worker).replaced)
            asked += width * info_[static_cast<std::size_t>(term.worker)].columns;
    }
    const auto answer = header_bytes + recipes_.payload(workers_of(terms));
    bytes_sent_ += asked;
    bytes_received_ += answer;
    if (times_.network.free()) return;
    const auto number = messages_.take();
    messages_.at(number) = {{}, answer, 0};
    const auto leader =
        std::ranges::find_if(node.workers, [this](Worker worker) { return can_lead(worker); });
    pass_out(
        *leader, asked,
        {{new_event(adding(terms), Kind::added, *leader, 0, number)}, Passing::Holds::nothing, 0});
    ++awaited_;
}

std::vector<std::optional<Values>> VirtualFleet::sums(std::span<const std::vector<Weighted>> groups)
{
    if (groups_ == 1) return {};
    std::vector<Worker> lost;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        auto& node = nodes_[i];
        const auto is_there = [this](const Weighted& term) { return !link(term.worker).replaced; };
        const bool adds_up = shares_ ? i > 0 : node.adds_up;
        if (!adds_up || std::ranges::none_of(groups[i], is_there)) continue;
        if (std::ranges::none_of(node.workers, [this](Worker one) { return can_lead(one); }))
            lost.insert(lost.end(), node.workers.begin(), node.workers.end());
        else if (!shares_)
            order_sum(node, groups[i]);
    }
    if (shares_ && lost.empty()) begin_step(groups);
    // The loss of a node is known when the deaths of all its workers are.
    const auto is_unknown = [this](Worker worker) {
        return link(worker).dead && !link(worker).noticed;
    };
    while (awaited_ > 0 || (shares_ && !shares_->is_over()) ||
           std::ranges::any_of(lost, is_unknown)) {
        expect_to_leave();
        const auto event = first_event();
        events_.pop();
        now_ = event.time;
        if (auto arrivals = take(event); !arrivals.empty()) inbox_.push_back(std::move(arrivals));
        if (event.kind == Kind::left) post();
    }
    if (!lost.empty())
        throw LostContributions(
            fmt::format("the contributions of workers {} were lost with their node before they "
                        "were added up",
                        fmt::join(lost, ", ")));
    if (shares_) carry(shares_->end());
    return {};
}

}  // namespace quorate
