// SPDX-License-Identifier: BSD-2-Clause
// The part of RankFleet that keeps track of membership: which ranks work, load, idle or are dead.
#include "ranks/rank_fleet.hpp"

#include <algorithm>
#include <limits>

#include "transport/clock.hpp"

namespace quorate {

namespace {

constexpr TaskId everything = std::numeric_limits<TaskId>::max();

}  // namespace

void RankFleet::be_ready(const transport::Message& message)
{
    const auto worker = worker_of(message.from);
    if (worker < 0) return;
    auto& to = link(worker);
    auto [shard, info, support] = decode_ready(*message.bytes, parameters_);
    if (shard < to.shard) return;  // meanwhile it was told to load another one
    check_shard(shard, to.shard);
    if (!to.loading) return;  // a message that brings a change is looked at once more
    detector_.end_grace(message.from);
    info.rank = message.from;
    info.group = info_[static_cast<std::size_t>(worker)].group;
    info_[static_cast<std::size_t>(worker)] = std::move(info);
    to.loading = false;
    to.loaded = {worker, shard, nullptr};
    // Replicas share one support, so that their tasks can share one message.
    for (auto& other : links_)
        if (other.loaded.support && *other.loaded.support == support)
            to.loaded.support = other.loaded.support;
    if (!to.loaded.support) to.loaded.support = std::make_shared<const Support>(std::move(support));
    // The leader adds up what the node's workers send, wherever these are by now.
    if (auto* node = first_node_of(worker)) node->knows_supports = false;
    for (auto& [task, inputs] : std::exchange(to.unready, {})) dispatch(task, std::move(inputs));
}

void RankFleet::settle()
{
    const auto loading = [](const Link& link) { return link.loading && link.state != State::dead; };
    endpoint_.restart_wait();
    while (std::ranges::any_of(links_, loading)) {
        find_dead();
        progress_or_wait();
        for (const auto& message : arrived_) take_note(message);
        arrived_.clear();
    }
}

std::vector<Worker> RankFleet::living() const
{
    std::vector<Worker> some;
    for (std::size_t i = 0; i < links_.size(); ++i)
        if (links_[i].state != State::dead) some.push_back(static_cast<Worker>(i));
    return some;
}

void RankFleet::clear(Worker worker)
{
    auto& of = link(worker);
    of.unready.clear();
    of.waiting.clear();
    of.held.clear();
    of.sent.clear();
    of.cancel = -1;
    if (auto* node = first_node_of(worker))
        std::erase_if(node->handed_out, [&](const auto& one) { return one.worker == worker; });
}

void RankFleet::change(const Change& wanted)
{
    auto& to = link(wanted.worker);
    if (rank(wanted.worker) < 0) return;  // a worker that is gone stays so
    switch (wanted.kind) {
        case Change::Kind::joined: to.state = State::here; break;
        case Change::Kind::left:
            clear(wanted.worker);
            to.state = State::away;
            send_aside(rank(wanted.worker), transport::Tag::cancel,
                       encode_values(endpoint_.pool(), everything));
            break;
        case Change::Kind::died:
            send_aside(rank(wanted.worker), transport::Tag::die, endpoint_.pool().take(0));
            return;       // the change is reported when the death is noticed
        default: return;  // the engine never asks for other changes
    }
    changes_.push_back(wanted);
}

void RankFleet::send_aside(int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes)
{
    endpoint_.send(rank, tag, std::move(bytes));
    endpoint_.ring();
}

bool RankFleet::has_died(int rank)
{
    const bool dead = detector_.is_dead(rank);
    has_dead_ranks_ |= dead;
    has_lost_ranks_ |= dead && !endpoint_.has_ended(rank);
    if (dead) endpoint_.forsake(rank);
    return dead;
}

void RankFleet::find_dead()
{
    constexpr Seconds interval = 0.02;
    const auto now = clock_seconds();
    if (now - checked_ < interval) return;
    checked_ = now;
    std::vector<std::string> hosts;  // of the dead
    for (const auto worker : living()) {
        if (has_died(rank(worker))) {
            hosts.push_back(info_[static_cast<std::size_t>(worker)].host);
            mark_dead(worker);
        } else {
            ping(rank(worker));
        }
    }
    // Workers of a host die together. One that was not noticed at once would be given rows by the
    // re-encoding that the others cause, and ten timeouts to load them.
    for (const auto worker : living()) {
        const auto& host = info_[static_cast<std::size_t>(worker)].host;
        if (std::ranges::find(hosts, host) != hosts.end() && detector_.is_suspect(rank(worker)))
            mark_dead(worker);
    }
    std::erase_if(standby_, [this](int rank) { return has_died(rank); });
    for (const int rank : standby_) ping(rank);
    // They too would take a coordinator that is silent for dead.
    for (const int rank : idle_) ping(rank);
}

void RankFleet::ping(int rank)
{
    if (detector_.should_ping(rank))
        send_aside(rank, transport::Tag::ping, endpoint_.pool().take(0));
}

void RankFleet::mark_dead(Worker worker)
{
    auto& to = link(worker);
    clear(worker);
    to.state = State::dead;
    endpoint_.forsake(rank(worker));
    to.sending = {};
    changes_.push_back({Change::Kind::died, worker});
    auto* node = node_of(worker);
    const auto code_index = code_index_[static_cast<std::size_t>(worker)];
    const bool replaced = !standby_.empty() && code_index >= 0;
    if (node && replaced) node->replaced.push_back(worker);
    if (node && node->leader == worker) appoint_leader(*node);
    if (!replaced) return;
    worker_of_[static_cast<std::size_t>(rank(worker))] = -1;
    info_[static_cast<std::size_t>(worker)].rank = standby_.front();
    worker_of_[static_cast<std::size_t>(standby_.front())] = worker;
    standby_.erase(standby_.begin());
    to.state = State::here;
    to.joins = true;
    to.leaves = false;
    assign(worker, code_index);
    changes_.push_back({Change::Kind::loading, worker});
}

// Tells a worker's rank which worker of the coding it is. The rank then loads that shard.
void RankFleet::assign(Worker worker, Worker code_index)
{
    auto& to = link(worker);
    clear(worker);
    to.shard = shards_;
    to.loading = true;
    detector_.extend_grace(rank(worker));
    send_aside(
        rank(worker), transport::Tag::assign,
        encode_values(endpoint_.pool(), Assignment{worker, coded_for_, code_index, shards_}));
}

void RankFleet::reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members)
{
    coded_for_ = coding->workers();
    ++shards_;
    std::ranges::fill(code_index_, -1);
    for (std::size_t i = 0; i < members.size(); ++i) {
        code_index_[static_cast<std::size_t>(members[i])] = static_cast<Worker>(i);
        assign(members[i], static_cast<Worker>(i));
    }
}

void RankFleet::take_note(const transport::Message& message)
{
    const auto worker = worker_of(message.from);
    if (message.tag == transport::Tag::ready) be_ready(message);
    if (worker < 0) return;
    auto& from = link(worker);
    from.leaves |= message.tag == transport::Tag::leaving;
    const bool slow = from.state == State::dead && !detector_.is_dead(message.from);
    // The worker was only slow and not dead, or it has loaded the rows of a worker that died.
    if (slow || (from.joins && !from.loading)) {
        from.state = State::here;
        from.joins = false;
        if (slow) {
            endpoint_.expect(message.from);
            lead_again(worker);
        }
        changes_.push_back({Change::Kind::joined, worker});
    }
    if (!from.leaves || from.loading) return;
    from.leaves = false;
    if (from.state != State::here) return;
    clear(worker);
    from.state = State::away;
    changes_.push_back({Change::Kind::left, worker});
}

}  // namespace quorate
