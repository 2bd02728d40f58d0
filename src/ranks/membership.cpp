// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/membership.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "transport/clock.hpp"

namespace quorate {

namespace {

constexpr TaskId everything = std::numeric_limits<TaskId>::max();

}  // namespace

Membership::Membership(CoordinatorMailbox& mailbox, Listener& listener, FleetRanks ranks,
                       std::int64_t parameters)
    : mailbox_(mailbox), listener_(listener), info_(ranks.workers.size()),
      members_(ranks.workers.size()),
      worker_of_(static_cast<std::size_t>(mailbox.endpoint().size()), -1),
      standby_(std::move(ranks.standby)), idle_(std::move(ranks.idle)), spare_(ranks.spare),
      parameters_(parameters), coded_for_(static_cast<int>(ranks.workers.size()))
{
    for (std::size_t i = 0; i < info_.size(); ++i) {
        const auto worker = static_cast<Worker>(i);
        members_[i].code_index = worker;
        const int rank = info_[i].rank = ranks.workers[i];
        if (rank < 0) {
            members_[i].state = State::dead;
            continue;
        }
        worker_of_[static_cast<std::size_t>(rank)] = worker;
        mailbox_.detector().extend_grace(rank);
    }
    if (spare_ >= 0) mailbox_.detector().extend_grace(spare_);
}

void Membership::set_groups(std::span<const int> groups)
{
    for (std::size_t i = 0; i < info_.size(); ++i) info_[i].group = groups[i];
}

std::vector<Worker> Membership::living() const
{
    std::vector<Worker> some;
    for (std::size_t i = 0; i < members_.size(); ++i)
        if (members_[i].state != State::dead) some.push_back(static_cast<Worker>(i));
    return some;
}

bool Membership::is_loading() const
{
    return std::ranges::any_of(
        members_, [](const Member& one) { return one.loading && one.state != State::dead; });
}

void Membership::be_ready(const transport::Message& message)
{
    const auto worker = worker_of(message.from);
    if (worker < 0) return;
    auto& to = of(worker);
    auto [shard, info, support] = decode_ready(*message.bytes, parameters_);
    if (shard < to.shard) return;  // meanwhile it was told to load another one
    check_shard(shard, to.shard);
    if (!to.loading) return;  // a message that brings a change is looked at once more
    mailbox_.detector().end_grace(message.from);
    auto& known = info_[static_cast<std::size_t>(worker)];
    info.rank = message.from;
    info.group = known.group;
    known = std::move(info);
    to.loading = false;
    to.loaded = {worker, shard, nullptr};
    // Replicas share one support, so that their tasks can share one message.
    for (auto& other : members_)
        if (other.loaded.support && *other.loaded.support == support)
            to.loaded.support = other.loaded.support;
    if (!to.loaded.support) to.loaded.support = std::make_shared<const Support>(std::move(support));
    listener_.has_loaded(worker);
}

void Membership::take(const transport::Message& message)
{
    const auto worker = worker_of(message.from);
    if (message.tag == transport::Tag::ready) be_ready(message);
    if (worker < 0) return;
    auto& from = of(worker);
    from.leaves |= message.tag == transport::Tag::leaving;
    const bool slow = from.state == State::dead && !mailbox_.detector().is_dead(message.from);
    // The worker was only slow and not dead, or it has loaded the rows of a worker that died.
    if (slow || (from.joins && !from.loading)) {
        from.state = State::here;
        from.joins = false;
        if (slow) {
            mailbox_.endpoint().expect(message.from);
            listener_.is_back(worker);
        }
        changes_.push_back({Change::Kind::joined, worker});
    }
    if (!from.leaves || from.loading) return;
    from.leaves = false;
    if (from.state == State::here) leave(worker);
}

void Membership::leave(Worker worker)
{
    listener_.forgets(worker);
    of(worker).state = State::away;
    changes_.push_back({Change::Kind::left, worker});
}

void Membership::find_dead()
{
    constexpr Seconds interval = 0.02;
    const auto now = clock_seconds();
    if (now - checked_ < interval) return;
    checked_ = now;
    std::vector<std::string> hosts;  // of the dead
    const auto host_of = [this](Worker worker) -> const std::string& {
        return info_[static_cast<std::size_t>(worker)].host;
    };
    for (const auto worker : living()) {
        if (mailbox_.has_died(rank(worker))) {
            hosts.push_back(host_of(worker));
            mark_dead(worker);
        } else {
            mailbox_.ping(rank(worker));
        }
    }
    // Workers of a host die together. One that was not noticed at once would be given rows by the
    // re-encoding that the others cause, and ten timeouts to load them.
    for (const auto worker : living())
        if (std::ranges::find(hosts, host_of(worker)) != hosts.end() &&
            mailbox_.detector().is_suspect(rank(worker)))
            mark_dead(worker);
    std::erase_if(standby_, [this](int rank) { return mailbox_.has_died(rank); });
    for (const int rank : standby_) mailbox_.ping(rank);
    // They too would take a coordinator that is silent for dead.
    for (const int rank : idle_) mailbox_.ping(rank);
}

void Membership::mark_dead(Worker worker)
{
    listener_.forgets(worker);
    of(worker).state = State::dead;
    mailbox_.endpoint().forsake(rank(worker));
    changes_.push_back({Change::Kind::died, worker});
    const bool replaced = !standby_.empty() && of(worker).code_index >= 0;
    listener_.has_died(worker, replaced);
    if (replaced) replace(worker);
}

void Membership::replace(Worker worker)
{
    auto& to = of(worker);
    const int next = standby_.front();
    standby_.erase(standby_.begin());
    worker_of_[static_cast<std::size_t>(rank(worker))] = -1;
    info_[static_cast<std::size_t>(worker)].rank = next;
    worker_of_[static_cast<std::size_t>(next)] = worker;
    to.state = State::here;
    to.joins = true;
    to.leaves = false;
    assign(worker);
    changes_.push_back({Change::Kind::loading, worker});
}

// Tells a worker's rank which worker of the coding it is. The rank then loads that shard.
void Membership::assign(Worker worker)
{
    auto& to = of(worker);
    listener_.forgets(worker);
    to.shard = shards_;
    to.loading = true;
    mailbox_.detector().extend_grace(rank(worker));
    mailbox_.send_aside(
        rank(worker), transport::Tag::assign,
        encode_values(mailbox_.pool(), Assignment{worker, coded_for_, to.code_index, shards_}));
}

void Membership::reencode(int workers, std::span<const Worker> members)
{
    coded_for_ = workers;
    ++shards_;
    for (auto& one : members_) one.code_index = -1;
    for (std::size_t i = 0; i < members.size(); ++i) {
        of(members[i]).code_index = static_cast<Worker>(i);
        assign(members[i]);
    }
}

void Membership::change(const Change& wanted)
{
    const int rank = this->rank(wanted.worker);
    if (rank < 0) return;  // a worker that is gone stays so
    switch (wanted.kind) {
        case Change::Kind::joined:
            of(wanted.worker).state = State::here;
            changes_.push_back(wanted);
            break;
        case Change::Kind::left:
            leave(wanted.worker);
            mailbox_.send_aside(rank, transport::Tag::cancel,
                                encode_values(mailbox_.pool(), everything));
            break;
        case Change::Kind::died:  // the change is reported when the death is noticed
            mailbox_.send_aside(rank, transport::Tag::die, mailbox_.pool().take(0));
            break;
        default: break;  // the engine never asks for other changes
    }
}

void Membership::replace_no_more()
{
    idle_.insert(idle_.end(), standby_.begin(), standby_.end());
    standby_.clear();
}

}  // namespace quorate
