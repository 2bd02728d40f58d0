// SPDX-License-Identifier: BSD-2-Clause
// The part of VirtualFleet whose hosts each add up and update a share of the parameters.
#include <algorithm>

#include "fleet/shares.hpp"
#include "fleet/virtual_fleet.hpp"

namespace quorate {

namespace {

constexpr std::int64_t head_bytes = 100;  // of a contribution that the coordinator tells of

}  // namespace

void VirtualFleet::share(std::span<const int> groups)
{
    set_groups(groups);
    deal_shares();
}

// Cuts the parameters into shares for what workers hold now. What is on its way is forgotten.
void VirtualFleet::deal_shares()
{
    std::vector<Support> supports;
    std::vector<const Support*> of_hosts;
    for (const auto& node : nodes_) supports.push_back(recipes_.support(node.workers));
    for (const auto& support : supports) of_hosts.push_back(&support);
    bounds_ = cut_shares(of_hosts, supports[0].whole(), static_cast<int>(nodes_.size()));
    std::vector<std::vector<std::int64_t>> of_points;
    for (const auto& support : supports) of_points.push_back(bytes_of_shares(support));
    shares_ = std::make_shared<ShareSteps>(bounds_, std::move(of_points), header_bytes);
    made_.clear();
    for (auto& node : nodes_) {
        node.held.clear();
        node.used.clear();
    }
}

// Bytes of a vector at a support, of each share.
std::vector<std::int64_t> VirtualFleet::bytes_of_shares(const Support& support) const
{
    auto all = numbers_of_shares(support, bounds_);
    for (auto& one : all) one *= recipes_.number();
    return all;
}

// Sends the messages of steps.
void VirtualFleet::carry(const ShareSteps::Messages& messages)
{
    for (const auto& message : messages) {
        (message.goes_out() ? bytes_sent_ : bytes_received_) += message.bytes;
        if (times_.network.free()) {
            carry(shares_->receive(message));
            continue;
        }
        const auto number = share_messages_.take();
        share_messages_.at(number) = {shares_, message};
        if (message.kind == ShareSteps::Kind::added)
            add_event(now_ + message.work, Kind::shared, 0, 0, number);
        else
            pass(rank_of_leader(message.from), rank_of_leader(message.to), message.bytes,
                 {{new_event(0, Kind::shared, 0, 0, number)}, Passing::Holds::nothing, 0});
    }
}

// A message of a step is there.
void VirtualFleet::receive_shared(std::size_t number)
{
    const auto [of, message] = share_messages_.at(number);
    share_messages_.give_back(number);
    if (of != shares_) return;  // the shares have been dealt anew meanwhile
    carry(shares_->receive(message));
    begin_held(node(message.to));
}

// As pass() names it. Shares of a host whose workers are all dead stay with its first one.
int VirtualFleet::rank_of_leader(int host)
{
    if (host == 0) return 0;
    const auto& workers = node(host).workers;
    const auto leader =
        std::ranges::find_if(workers, [this](Worker worker) { return can_lead(worker); });
    return 1 + (leader == workers.end() ? workers[0] : *leader);
}

// Tells the other hosts of contributions that have come.
void VirtualFleet::tell(const std::vector<Arrival>& arrivals)
{
    if (!shares_ || arrivals.empty()) return;
    told_ = now_;
    carry(shares_->tell(head_bytes * std::ssize(arrivals)));
}

// Begins a step. One that no contribution of this moment has brought about is told.
void VirtualFleet::begin_step(std::span<const std::vector<Weighted>> groups)
{
    std::vector<ShareSteps::Used> used(nodes_.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i].empty()) continue;
        auto& node = nodes_[i];
        auto workers = workers_of(groups[i]);
        if (workers != node.used) {
            node.used = std::move(workers);
            node.used_bytes = bytes_of_shares(recipes_.support(node.used));
        }
        used[i] = {node.used_bytes, adding(groups[i])};
    }
    if (told_ != now_) carry(shares_->tell(0));
    carry(shares_->begin(std::move(used)));
}

// The step whose point a task needs.
std::int64_t VirtualFleet::step_of(const Order& order) const
{
    std::int64_t step = 0;
    for (const auto version : order.context->inputs)
        if (const auto made = made_.find(version); made != made_.end())
            step = std::max(step, made->second);
    return step;
}

// Takes note of points that the last step has made. Those that all hosts have need no note.
void VirtualFleet::note_made(const Versions& versions)
{
    if (std::ranges::all_of(versions, [this](Version one) { return made_.contains(one); })) return;
    auto everywhere = shares_->steps();
    for (int host = 0; host < std::ssize(nodes_); ++host)
        everywhere = std::min(everywhere, shares_->newest(host));
    const auto newest = made_.empty() ? no_point : made_.rbegin()->first;
    for (const auto version : versions)
        if (version > newest) made_[version] = shares_->steps();
    std::erase_if(made_, [&](const auto& one) {
        return one.second <= everywhere && one.first < made_.rbegin()->first;
    });
}

// A task has come to a worker. It waits until its host has its points.
void VirtualFleet::hold(Worker worker, TaskId task)
{
    auto& host = node(node_of(worker));
    auto& to = link(worker);
    const auto order = to.on_the_way(task);
    if (order == to.waiting()) return;  // the worker has gone meanwhile
    const auto is_obsolete = [&](const Order& one) {
        return order->context->control.replaces(one.context->control);
    };
    const auto step = step_of(*order);
    // Those before it are held; it takes the place of those that it replaces.
    const auto kept = std::remove_if(to.orders.begin(), order, is_obsolete);
    to.travelling -= static_cast<std::uint32_t>(order - kept);
    to.orders.erase(kept, order);
    host.held.emplace_back(worker, task);
    if (shares_->newest(node_of(worker)) >= step) begin_held(host);
}

// Gives workers of a host the tasks whose points it has, each worker in the order of its tasks.
void VirtualFleet::begin_held(Node& host)
{
    const auto newest = shares_->newest(node_of(host.workers[0]));
    std::erase_if(host.held, [&](const auto& held) {
        const auto [worker, task] = held;
        auto& to = link(worker);
        const auto order = to.on_the_way(task);
        if (order == to.waiting()) return true;  // dropped
        if (order != to.orders.begin() || step_of(*order) > newest) return false;
        --to.travelling;
        deliver(worker, order);
        return true;
    });
}

}  // namespace quorate
