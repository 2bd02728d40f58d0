// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/leaders.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/drop_if.hpp"
#include "fleet/nodes.hpp"
#include "transport/clock.hpp"

namespace quorate {

namespace {

constexpr std::size_t enough_pieces = 2;  // that are on their way at a time
constexpr double forgets = 0.9;           // of how long pieces took, with each that leaves
constexpr double much_slower = 4;         // than other nodes

template <class Sequence, class Value>
bool contains(const Sequence& sequence, const Value& value)
{
    return std::ranges::find(sequence, value) != sequence.end();
}

}  // namespace

std::size_t Leaders::group_of(Worker worker) const
{
    const auto& info = membership_.workers()[static_cast<std::size_t>(worker)];
    return static_cast<std::size_t>(info.group);
}

Leaders::Node* Leaders::node_of(Worker worker)
{
    return group_of(worker) < nodes_.size() ? &nodes_[group_of(worker)] : nullptr;
}

bool Leaders::lead(Worker worker) const
{
    if (group_of(worker) >= nodes_.size()) return false;
    const auto& node = nodes_[group_of(worker)];
    return node.leader >= 0 && !contains(node.replaced, worker);
}

// --- the beginning -------------------------------------------------------------------------------

void Leaders::begin(std::span<const int> groups, std::span<const SharedAddress> contributions)
{
    nodes_.resize(static_cast<std::size_t>(std::ranges::max(groups)) + 1);
    for (std::size_t i = 0; i < groups.size(); ++i)
        nodes_[static_cast<std::size_t>(groups[i])].workers.push_back(static_cast<Worker>(i));
    for (auto& node : nodes_) ask_to_meet(node, contributions);
}

void Leaders::ask_to_meet(Node& node, std::span<const SharedAddress> contributions)
{
    const std::string* host = nullptr;
    std::vector<Peer> peers;
    for (const auto worker : node.workers) {
        const auto& info = membership_.workers()[static_cast<std::size_t>(worker)];
        if (info.rank < 0) continue;  // it is gone since before the run was resumed
        if (membership_.is_dead(worker)) return;
        if (!host) host = &info.host;
        const auto& address = contributions[static_cast<std::size_t>(info.rank - 1)];
        if (info.host != *host || address.file < 0) return;
        peers.push_back({worker, info.rank, address});
    }
    if (peers.size() < 2) return;
    node.meets = true;
    for (const auto& peer : peers) {
        node.unmet.push_back(static_cast<int>(peer.rank));
        mailbox_.send_aside(static_cast<int>(peer.rank), transport::Tag::peers,
                            encode_peers(peers, mailbox_.pool()));
    }
}

bool Leaders::is_beginning() const
{
    return std::ranges::any_of(nodes_, [](const Node& node) { return !node.unmet.empty(); });
}

// Takes note of whether a rank can read what the others of its node write. When all can, the node
// gets a leader.
void Leaders::met(int rank, bool can_read)
{
    for (auto& node : nodes_) {
        if (std::erase(node.unmet, rank) == 0) continue;
        node.meets = node.meets && can_read;
        if (!node.unmet.empty() || !node.meets) continue;
        for (const auto worker : node.workers)
            if (membership_.rank(worker) > 0 && !contains(node.replaced, worker))
                mailbox_.send_aside(membership_.rank(worker), transport::Tag::keep,
                                    mailbox_.pool().take(0));
        appoint(node);
    }
}

// Has the first worker of a node that lives lead it. The leader before, if there was one, is dead:
// the points that it was told to hand out are handed out again.
void Leaders::appoint(Node& node)
{
    const auto can_lead = [&](Worker worker) {
        return membership_.rank(worker) > 0 && !membership_.is_dead(worker) &&
               !contains(node.replaced, worker);
    };
    const auto next = std::ranges::find_if(node.workers, can_lead);
    node.leader = next == node.workers.end() ? -1 : *next;
    node.knows_supports = false;
    node.points.clear();
    node.arriving = -1;
    node.pieces.clear();
    node.sum.reset();
    for (auto& one : node.handed_out) one.told = false;
}

// --- changes -------------------------------------------------------------------------------------

void Leaders::has_loaded(Worker worker)
{
    // The leader adds up what the node's workers send, wherever these are by now.
    if (auto* node = node_of(worker)) node->knows_supports = false;
}

void Leaders::has_died(Worker worker, bool replaced)
{
    auto* node = node_of(worker);
    if (!node || contains(node->replaced, worker)) return;
    if (replaced) node->replaced.push_back(worker);
    met(membership_.rank(worker), false);
    if (node->leader == worker) appoint(*node);
}

void Leaders::is_back(Worker worker)
{
    if (auto* node = node_of(worker); node && node->meets && node->leader < 0) appoint(*node);
}

bool Leaders::take(transport::Message& message)
{
    MessageReader in(*message.bytes);
    if (message.tag == transport::Tag::met) {
        met(message.from, in.get<std::int64_t>() != 0);
        return true;
    }
    if (message.tag != transport::Tag::sum_answer) return false;
    // Only the answer to the newest request of a node counts.
    const auto node = std::ranges::find(nodes_, in.get<SumAnswer>().number, &Node::request);
    if (node != nodes_.end()) node->sum = std::move(message);
    return true;
}

// --- points --------------------------------------------------------------------------------------

void Leaders::hand_out(Worker worker, TaskId task, Version version, const Point& point)
{
    node_of(worker)->handed_out.push_back(
        {worker, membership_.loaded(worker).shard, task, version, point});
}

void Leaders::forget(Worker worker, std::optional<TaskId> task)
{
    if (auto* node = node_of(worker))
        std::erase_if(node->handed_out, [&](const HandedOut& one) {
            return one.worker == worker && (!task || one.task == *task);
        });
}

void Leaders::send(const Node& node, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes)
{
    mailbox_.send(membership_.rank(node.leader), tag, std::move(bytes));
}

void Leaders::tell_supports(Node& node)
{
    if (std::exchange(node.knows_supports, true)) return;
    std::vector<Touched> all;
    for (const auto worker : node.workers)
        if (const auto& loaded = membership_.loaded(worker); loaded.support) all.push_back(loaded);
    node.touched = union_of(all, parameters_);
    node.lead = ++leads_;
    mailbox_.send_aside(membership_.rank(node.leader), transport::Tag::lead,
                        encode_lead(node.lead, all, mailbox_.pool()));
    // What the leader has was of the old supports.
    node.points.clear();
    node.arriving = -1;
}

// What lies at a node without a leader waits for one.
void Leaders::tell_released(std::vector<KeptBlock>& released)
{
    for (auto& node : nodes_) {
        std::vector<KeptBlock> here;
        if (node.leader >= 0)
            std::erase_if(released, [&](const KeptBlock& one) {
                const bool at_node = contains(node.workers, one.worker);
                if (at_node) here.push_back(one);
                return at_node;
            });
        if (!here.empty())
            send(node, transport::Tag::release, encode_release(here, mailbox_.pool()));
    }
}

// Points go to one node after the other: sent side by side they would all come when the last one
// does, and those who have one early can answer early. They go in pieces, so that one which nobody
// wants any more is given up. A node whose pieces take longer than those of others, because its
// link is slow or its leader has stopped, gets its points beside them: they do not wait for it.
void Leaders::send(std::vector<KeptBlock>& released)
{
    if (!released.empty()) tell_released(released);
    look_at_pieces();
    const auto slow = much_slower * usual_time_of_pieces();
    for (std::size_t looked = 0; looked < nodes_.size(); ++looked) {
        auto& node = nodes_[turn_];
        while (node.leader >= 0) {
            const auto next = std::ranges::find(node.handed_out, false, &HandedOut::told);
            if (next == node.handed_out.end()) break;
            tell_supports(node);
            if (contains(node.points, next->version)) {
                hand_out(node, next->version);
                continue;
            }
            const bool beside = node.piece_takes > slow;
            if (!beside && enough_under_way(slow)) return;
            if (node.pieces.size() >= enough_pieces) break;
            send_piece(node, next->version, *next->point);
        }
        turn_ = (turn_ + 1) % nodes_.size();
    }
}

// Takes note of which pieces have left, and of how long pieces take of late.
void Leaders::look_at_pieces()
{
    const auto now = clock_seconds();
    for (auto& node : nodes_) {
        Seconds slowest = 0;
        drop_if(node.pieces, [&](auto& one) {
            slowest = std::max(slowest, now - one.first);
            const bool there = one.second.has_left();
            if (there) node.piece_takes = std::max(least_time_of_piece, forgets * node.piece_takes);
            return there;
        });
        node.piece_takes = std::max(node.piece_takes, slowest);
    }
}

// How long pieces take to the node that gets them fastest.
Seconds Leaders::usual_time_of_pieces() const
{
    Seconds usual = never;
    for (const auto& node : nodes_)
        if (node.leader >= 0) usual = std::min(usual, node.piece_takes);
    return usual;
}

// Whether as many pieces are on their way as keep the coordinator's link busy.
bool Leaders::enough_under_way(Seconds slow) const
{
    std::size_t under_way = 0;
    for (const auto& node : nodes_)
        if (node.piece_takes <= slow) under_way += node.pieces.size();
    return under_way >= enough_pieces;
}

// Sends the next piece of a point to the leader of a node.
void Leaders::send_piece(Node& node, Version version, ConstNumbers point)
{
    if (std::exchange(node.arriving, version) != version) node.sent = 0;
    const auto size = node.touched->size();
    const auto count = std::min<std::size_t>(point_piece, size - node.sent);
    auto bytes = encode_piece({version, static_cast<std::int64_t>(node.sent), node.lead}, count,
                              *node.touched, point, wire_, mailbox_.pool());
    node.pieces.emplace_back(
        clock_seconds(), mailbox_.send(membership_.rank(node.leader), transport::Tag::point_piece,
                                       std::move(bytes)));
    node.sent += count;
    if (node.sent < size) return;
    node.points.push_back(version);
    node.arriving = -1;
}

// Has the leader of a node, which has this point, hand it out to all who need it.
void Leaders::hand_out(Node& node, Version version)
{
    NodePoint message{version, {}, {}};
    for (auto& one : node.handed_out) {
        if (!contains(message.keep, one.version)) message.keep.push_back(one.version);
        if (one.told || one.version != version) continue;
        one.told = true;
        message.to.push_back({membership_.rank(one.worker), one.shard, one.task});
    }
    std::erase_if(node.points, [&](Version one) { return !contains(message.keep, one); });
    send(node, transport::Tag::node_point, encode(message, mailbox_.pool()));
}

// --- sums ----------------------------------------------------------------------------------------

void Leaders::begin_sum(std::size_t group)
{
    nodes_[group].sum.reset();
    nodes_[group].asked = -1;
}

void Leaders::ask_for_sum(std::size_t group, const std::function<std::vector<Term>()>& terms)
{
    auto& node = nodes_[group];
    if (node.sum) return;
    if (node.leader < 0) lose(node);
    if (std::exchange(node.asked, node.leader) == node.leader) return;
    tell_supports(node);
    SumOrder order{++requests_, {}, {}};
    std::vector<Touched> used;
    const auto all = terms();
    for (const auto& term : all) {
        if (used.empty() || used.back().worker != term.worker) used.push_back(term.of);
        order.terms.push_back(
            {term.worker, term.of.shard, term.block, term.first, term.length, term.weight});
        if (term.block == 0) order.values.emplace_back(term.values);
    }
    node.request = order.number;
    node.summed = union_of(used, parameters_);
    send(node, transport::Tag::sum, encode(order, mailbox_.pool()));
}

Values Leaders::sum(std::size_t group) const
{
    const auto& node = nodes_[group];
    MessageReader in(*node.sum->bytes);
    if (!in.get<SumAnswer>().whole) lose(node);
    const auto size = node.summed->size();
    const auto numbers = with_number(
        wire_, [&]<class Number>(Number) -> Packed { return in.numbers<Number>(size); });
    return {*node.summed, numbers, Losses{}};
}

void Leaders::lose(const Node& node)
{
    throw LostContributions(
        fmt::format("the contributions of workers {} were lost with their node before they were "
                    "added up",
                    fmt::join(node.workers, ", ")));
}

}  // namespace quorate
