// SPDX-License-Identifier: BSD-2-Clause
// The part of RankFleet that speaks to the leaders of nodes, in aggregation by node.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/drop_if.hpp"
#include "fleet/nodes.hpp"
#include "ranks/rank_fleet.hpp"
#include "transport/clock.hpp"

namespace quorate {

RankFleet::Node* RankFleet::first_node_of(Worker worker)
{
    const auto group = static_cast<std::size_t>(info_[static_cast<std::size_t>(worker)].group);
    return group < nodes_.size() ? &nodes_[group] : nullptr;
}

RankFleet::Node* RankFleet::node_of(Worker worker)
{
    auto* node = first_node_of(worker);
    const bool there = node && node->leader >= 0 && std::ranges::count(node->replaced, worker) == 0;
    return there ? node : nullptr;
}

void RankFleet::aggregate(std::span<const int> groups, std::span<const SharedAddress> contributions)
{
    for (std::size_t i = 0; i < info_.size(); ++i) {
        info_[i].group = groups[i];
        groups_ = std::max(groups_, groups[i] + 1);
    }
    nodes_.resize(static_cast<std::size_t>(groups_));
    for (std::size_t i = 0; i < info_.size(); ++i)
        nodes_[static_cast<std::size_t>(groups[i])].workers.push_back(static_cast<Worker>(i));
    for (auto& node : nodes_) {
        node.meets = all_meet(node, contributions);
        if (!node.meets) continue;
        for (const auto worker : node.workers)
            if (rank(worker) > 0)
                send_aside(rank(worker), transport::Tag::keep, endpoint_.pool().take(0));
        appoint_leader(node);
    }
}

// Whether the workers of a node can read what each other writes.
bool RankFleet::all_meet(const Node& node, std::span<const SharedAddress> contributions)
{
    const std::string* host = nullptr;
    std::vector<Peer> peers;
    std::vector<int> unmet;
    for (const auto worker : node.workers) {
        const auto& info = info_[static_cast<std::size_t>(worker)];
        if (info.rank < 0) continue;  // it is gone since before the run was resumed
        if (!host) host = &info.host;
        const auto& address = contributions[static_cast<std::size_t>(info.rank - 1)];
        if (info.host != *host || memory_.reads(info.rank) || address.file < 0) return false;
        peers.push_back({worker, info.rank, address});
        unmet.push_back(info.rank);
    }
    if (peers.size() < 2) return false;
    for (const int rank : unmet)
        send_aside(rank, transport::Tag::peers, encode_peers(peers, endpoint_.pool()));
    bool all = true;
    endpoint_.restart_wait();
    while (!unmet.empty()) {
        find_dead();
        progress_or_wait();
        std::erase_if(arrived_, [&](const transport::Message& message) {
            if (message.tag != transport::Tag::met) return false;
            all &= Reader(*message.bytes).get<std::int64_t>() != 0;
            std::erase(unmet, message.from);
            return true;
        });
        const auto before = unmet.size();
        std::erase_if(unmet, [this](int rank) { return detector_.is_dead(rank); });
        all &= unmet.size() == before;
    }
    return all;
}

// Has the first worker of a node that lives lead it. The leader before, if there was one, is dead:
// the points that it was told to hand out are handed out again.
void RankFleet::appoint_leader(Node& node)
{
    const auto can_lead = [&](Worker worker) {
        return rank(worker) > 0 && link(worker).state != State::dead &&
               std::ranges::count(node.replaced, worker) == 0;
    };
    const auto next = std::ranges::find_if(node.workers, can_lead);
    node.leader = next == node.workers.end() ? -1 : *next;
    node.knows_supports = false;
    node.points.clear();
    node.arriving = -1;
    node.sum.reset();
    for (auto& one : node.handed_out) one.told = false;
}

// Gives the node of a worker that is back a leader, if all its workers had been taken for dead.
void RankFleet::lead_again(Worker worker)
{
    if (auto* node = first_node_of(worker); node && node->meets && node->leader < 0)
        appoint_leader(*node);
}

void RankFleet::send_to_leader(const Node& node, transport::Tag tag,
                               std::shared_ptr<transport::Bytes> bytes)
{
    bytes_sent_ += static_cast<std::int64_t>(bytes->size());
    send_aside(rank(node.leader), tag, std::move(bytes));
}

void RankFleet::tell_supports(Node& node)
{
    if (std::exchange(node.knows_supports, true)) return;
    std::vector<Touched> all;
    for (const auto worker : node.workers)
        if (link(worker).loaded.support) all.push_back(link(worker).loaded);
    node.touched = union_of(all, parameters_);
    node.lead = ++leads_;
    send_aside(rank(node.leader), transport::Tag::lead,
               encode_lead(node.lead, all, endpoint_.pool()));
    // What the leader has was of the old supports.
    node.points.clear();
    node.arriving = -1;
}

// Tells leaders what may be used again. What lies at a node without a leader waits for one.
void RankFleet::tell_released()
{
    for (auto& node : nodes_) {
        std::vector<KeptBlock> here;
        if (node.leader >= 0)
            std::erase_if(released_, [&](const KeptBlock& one) {
                const bool at_node = std::ranges::count(node.workers, one.worker) > 0;
                if (at_node) here.push_back(one);
                return at_node;
            });
        if (!here.empty())
            send_to_leader(node, transport::Tag::release, encode_release(here, endpoint_.pool()));
    }
}

// Tells leaders what they do not know yet: what may be used again, and points. Points go to one node
// after the other: sent side by side they would all come when the last one does, and those who have
// one early can answer early. They go in pieces, so that one which nobody wants any more is given up.
void RankFleet::tell_leaders()
{
    if (!released_.empty()) tell_released();
    for (std::size_t looked = 0; looked < nodes_.size(); ++looked) {
        auto& node = nodes_[turn_];
        while (node.leader >= 0) {
            const auto next = std::ranges::find(node.handed_out, false, &HandedOut::told);
            if (next == node.handed_out.end()) break;
            tell_supports(node);
            if (std::ranges::count(node.points, next->version) > 0) {
                hand_out(node, next->version);
                continue;
            }
            if (enough_under_way()) return;
            if (has_stalled()) break;
            send_piece(node, next->version, *next->point);
        }
        turn_ = (turn_ + 1) % nodes_.size();
    }
}

// Whether as many pieces are on their way to leaders as keep the link busy.
bool RankFleet::enough_under_way()
{
    constexpr std::size_t enough = 2;
    const auto now = clock_seconds();
    drop_if(pieces_, [&](auto& one) {
        const bool there = one.second.has_left();
        if (there) piece_takes_ = std::max(piece_takes_, now - one.first);
        return there;
    });
    return pieces_.size() >= enough && now - pieces_.front().first < 2 * piece_takes_;
}

// Whether pieces are on their way for so long that their leader may have stopped. Others need not
// wait for it then.
bool RankFleet::has_stalled()
{
    if (pieces_.empty() || clock_seconds() - pieces_.front().first < 2 * piece_takes_) return false;
    pieces_.clear();
    return true;
}

// Sends the next piece of a point to the leader of a node.
void RankFleet::send_piece(Node& node, Version version, std::span<const double> point)
{
    if (std::exchange(node.arriving, version) != version) node.sent = 0;
    const auto size = node.touched->size();
    const auto count = std::min<std::size_t>(point_piece, size - node.sent);
    auto bytes = encode_piece({version, static_cast<std::int64_t>(node.sent), node.lead}, count,
                              *node.touched, point, wire_, endpoint_.pool());
    bytes_sent_ += static_cast<std::int64_t>(bytes->size());
    pieces_.emplace_back(
        clock_seconds(),
        endpoint_.send(rank(node.leader), transport::Tag::point_piece, std::move(bytes)));
    node.sent += count;
    if (node.sent < size) return;
    node.points.push_back(version);
    node.arriving = -1;
}

// Has the leader of a node, which has this point, hand it out to all who need it.
void RankFleet::hand_out(Node& node, Version version)
{
    NodePoint message{version, {}, {}};
    for (auto& one : node.handed_out) {
        if (std::ranges::count(message.keep, one.version) == 0) message.keep.push_back(one.version);
        if (one.told || one.version != version) continue;
        one.told = true;
        message.to.push_back({rank(one.worker), one.shard, one.task});
    }
    std::erase_if(node.points,
                  [&](Version held) { return std::ranges::count(message.keep, held) == 0; });
    send_to_leader(node, transport::Tag::node_point, encode(message, endpoint_.pool()));
}

void RankFleet::ask_for_sum(Node& node, std::span<const Weighted> terms)
{
    tell_supports(node);
    SumOrder order{++requests_, {}, {}};
    std::vector<std::vector<double>> unpacked;
    std::vector<Touched> used;
    for (const auto& [handle, weight, worker] : terms) {
        const auto& slot = slots_.at(handle);
        if (used.empty() || used.back().worker != worker) used.push_back(slot.of);
        auto length = slot.length;
        if (slot.block == 0) {
            unpacked.push_back(values(handle).doubles());
            length = std::ssize(unpacked.back());
        }
        order.terms.push_back({worker, slot.of.shard, slot.block, slot.first, length, weight});
    }
    order.values.assign(unpacked.begin(), unpacked.end());
    node.request = order.number;
    node.summed = union_of(used, parameters_);
    send_to_leader(node, transport::Tag::sum, encode(order, endpoint_.pool()));
}

// Takes the answer to the newest request of a node. @return whether the message is an answer
bool RankFleet::take_sum(transport::Message& message)
{
    if (message.tag != transport::Tag::sum_answer) return false;
    const auto number = Reader(*message.bytes).get<SumAnswer>().number;
    const auto node = std::ranges::find(nodes_, number, &Node::request);
    if (node != nodes_.end()) node->sum = std::move(message);
    return true;
}

void RankFleet::lose(const Node& node) const
{
    throw LostContributions(
        fmt::format("the contributions of workers {} were lost with their node before they were "
                    "added up",
                    fmt::join(node.workers, ", ")));
}

std::vector<std::optional<Values>> RankFleet::sums(std::span<const std::vector<Weighted>> groups)
{
    std::vector<std::optional<Values>> found(groups.size());
    const auto lies_at_node = [this](const Weighted& term) { return is_at_node(term); };
    std::map<std::size_t, Worker> asked;  // leaders, by group
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (std::ranges::any_of(groups[i], lies_at_node)) {
            nodes_[i].sum.reset();
            asked[i] = -1;
        }
    endpoint_.restart_wait();
    while (std::ranges::any_of(asked, [&](const auto& one) { return !nodes_[one.first].sum; })) {
        for (auto& [group, leader] : asked) {
            auto& node = nodes_[group];
            if (node.leader < 0) lose(node);
            if (node.leader == leader) continue;
            ask_for_sum(node, groups[group]);
            leader = node.leader;
        }
        find_dead();
        progress_or_wait();
        drop_if(arrived_, [&](transport::Message& message) { return take_sum(message); });
    }
    for (const auto& [group, leader] : asked) {
        auto& node = nodes_[group];
        Reader in(*node.sum->bytes);
        if (!in.get<SumAnswer>().whole) lose(node);
        const auto size = node.summed->size();
        found[group].emplace(
            *node.summed,
            with_number(wire_,
                        [&]<class Number>(Number) -> Packed { return in.numbers<Number>(size); }),
            Losses{});
    }
    return found;
}

}  // namespace quorate
