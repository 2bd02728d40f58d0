// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/share_lead.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "fleet/shares.hpp"

namespace quorate {

void ShareLead::refuse(Worker worker, const std::string& why) const
{
    throw BadInput(
        fmt::format("--aggregate shares is not possible: worker {} on {} {}; use --aggregate node "
                    "or flat",
                    worker, membership_.workers()[static_cast<std::size_t>(worker)].host, why));
}

void ShareLead::ask(int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes)
{
    unanswered_.push_back(rank);
    mailbox_.send_aside(rank, tag, std::move(bytes));
}

void ShareLead::ask_to_meet(std::span<const SharedAddress> contributions)
{
    const auto& workers = membership_.workers();
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const auto& [rank, host, rows, columns, shared, group] = workers[i];
        const auto worker = static_cast<Worker>(i);
        peers_.resize(std::max(peers_.size(), static_cast<std::size_t>(group) + 1));
        if (rank < 0) continue;  // of the run that goes on; it is gone
        if (!membership_.loaded(worker).support)
            throw Failure(
                fmt::format("worker {} has died before it had loaded its rows: begin the "
                            "run again",
                            worker));
        check_group(worker);
        if (host == mailbox_.endpoint().host()) {
            if (!shared) refuse(worker, "does not share memory with the coordinator");
            continue;
        }
        const auto& address = contributions[static_cast<std::size_t>(rank - 1)];
        if (address.file < 0) refuse(worker, "has no shared memory");
        peers_[static_cast<std::size_t>(group)].push_back({worker, rank, address});
    }
    for (const auto& peers : peers_)
        for (const auto& peer : peers)
            ask(static_cast<int>(peer.rank), transport::Tag::peers,
                encode_peers(peers, mailbox_.pool()));
}

// Checks that all whose contributions are added up with a worker's are on its host, and on the
// coordinator's host no others. Only those of a run that goes on may be elsewhere.
void ShareLead::check_group(Worker worker) const
{
    const auto& workers = membership_.workers();
    const auto& info = workers[static_cast<std::size_t>(worker)];
    const auto& here = mailbox_.endpoint().host();
    for (Worker other = 0; other < worker; ++other) {
        const auto& before = workers[static_cast<std::size_t>(other)];
        if (before.rank < 0) continue;
        if (before.group == info.group && before.host != info.host)
            refuse(worker, fmt::format("was on one host with worker {}, which is on {} now", other,
                                       before.host));
        if (before.group != info.group && info.host == here && before.host == here)
            refuse(worker, fmt::format("was not on one host with worker {}, which the coordinator "
                                       "adds up now",
                                       other));
    }
}

// What the owner of a share is told.
Ownership ShareLead::ownership(std::size_t share) const
{
    const auto& workers = membership_.workers();
    Ownership own{.share = static_cast<std::int64_t>(share), .shares = dealt_, .step = step_};
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const auto& [worker, shard, support] = membership_.loaded(static_cast<Worker>(i));
        auto& told = own.workers.emplace_back();
        told.info = workers[i];
        told.shard = shard;
        // A worker that is gone touches nothing.
        const auto touched =
            support ? support : std::make_shared<const Support>(Support::of(parameters_, {}));
        told.part = std::make_shared<const Support>(
            touched->slice(dealt_.first(share), dealt_.last(share)));
        if (workers[i].group == own.group()) told.whole = touched;
    }
    if (share > 0) own.peers = peers_[static_cast<std::size_t>(own.group())];
    return own;
}

void ShareLead::deal(const std::string& step, const TellPast& past)
{
    const auto& workers = membership_.workers();
    step_ = step;
    dealt_ = {{}, {0}, {-1}};
    std::vector<Support> touched;
    for (std::size_t group = 0; group < peers_.size(); ++group) {
        std::vector<const Support*> all;
        for (std::size_t i = 0; i < workers.size(); ++i)
            if (workers[i].group == static_cast<int>(group) && workers[i].rank >= 0)
                all.push_back(membership_.loaded(static_cast<Worker>(i)).support.get());
        if (all.empty()) continue;  // all of them are gone
        touched.push_back(union_of(all, parameters_));
        // Before a code is made for the workers of a run that goes on, nobody knows.
        if (touched.back().size() == 0) touched.back() = Support::all(parameters_);
        if (peers_[group].empty()) {
            dealt_.groups[0] = static_cast<int>(group);
            continue;
        }
        dealt_.ranks.push_back(static_cast<int>(peers_[group][0].rank));
        dealt_.groups.push_back(static_cast<int>(group));
    }
    std::vector<const Support*> of_hosts;
    for (const auto& support : touched) of_hosts.push_back(&support);
    dealt_.bounds = cut_shares(of_hosts, parameters_, static_cast<int>(dealt_.count()));
    if (dealt_.bounds.size() != dealt_.count() + 1)
        throw BadInput(
            fmt::format("--aggregate shares is not possible: {} parameters are too few for {} "
                        "hosts, whose shares are multiples of {}; use --aggregate node or flat",
                        parameters_, dealt_.count(), sum_block));
    for (const auto& peers : peers_)
        for (const auto& peer : peers)
            mailbox_.send_aside(static_cast<int>(peer.rank), transport::Tag::keep,
                                mailbox_.pool().take(0));
    for (std::size_t share = 1; share < dealt_.count(); ++share) {
        ask(dealt_.ranks[share], transport::Tag::own, encode(ownership(share), mailbox_.pool()));
        // None of a run that begins.
        mailbox_.send_aside(dealt_.ranks[share], transport::Tag::past,
                            past ? past(static_cast<std::size_t>(dealt_.first(share)),
                                        static_cast<std::size_t>(dealt_.last(share)))
                                 : mailbox_.pool().take(0));
    }
    auto& endpoint = mailbox_.endpoint();
    share_.emplace(
        ownership(0), wire_, precision_, endpoint.size(),
        [&endpoint](int rank) { return endpoint.has_ended(rank); }, mailbox_.pool(),
        [this](int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes) {
            mailbox_.send_aside(rank, tag, std::move(bytes));
        });
}

void ShareLead::reencode()
{
    for (std::size_t share = 1; share < dealt_.count(); ++share)
        mailbox_.send_aside(dealt_.ranks[share], transport::Tag::own,
                            encode(ownership(share), mailbox_.pool()));
    share_->reencode(ownership(0).workers);
}

bool ShareLead::take(transport::Message& message)
{
    const bool answer = std::ranges::find(unanswered_, message.from) != unanswered_.end();
    switch (message.tag) {
        case transport::Tag::met:
            if (!answer) return false;
            if (MessageReader(*message.bytes).get<std::int64_t>() == 0)
                refuse(membership_.worker_of(message.from),
                       "cannot read what others of its host write");
            [[fallthrough]];
        case transport::Tag::owns: std::erase(unanswered_, message.from); return true;
        case transport::Tag::slice: whole_->take(message.bytes); return true;
        default: return share_ && share_->take(message);
    }
}

void ShareLead::check_owner(Worker worker) const
{
    const auto& info = membership_.workers()[static_cast<std::size_t>(worker)];
    if (!over_ && std::ranges::find(shares().ranks, info.rank) != shares().ranks.end())
        throw LostShare(
            fmt::format("worker {} on {} is dead, and with it the share of the parameters that it "
                        "owned",
                        worker, info.host));
}

void ShareLead::tell(const EngineEvent& event)
{
    const auto bytes = encode(event, mailbox_.pool());
    for (const int share : told_by(0, static_cast<int>(shares().count())))
        mailbox_.send(shares().ranks[static_cast<std::size_t>(share)], transport::Tag::event,
                      bytes);
}

void ShareLead::tell_arrivals(std::span<const Arrival> arrivals, Seconds now)
{
    EngineEvent event{.kind = EngineEvent::Kind::arrivals, .time = now};
    for (const auto& arrival : arrivals) event.arrivals.push_back(values_.came(arrival));
    tell(event);
}

void ShareLead::tell_adopted(Worker worker, const Values& values)
{
    const auto& shares = this->shares();
    const auto group = membership_.workers()[static_cast<std::size_t>(worker)].group;
    for (std::size_t share = 1; share < shares.count(); ++share) {
        Adopted told{worker, values.losses};
        if (shares.groups[share] == group) {
            told.support = std::make_shared<const Support>(values.support);
            told.values = values.doubles();
        }
        mailbox_.send_aside(shares.ranks[share], transport::Tag::adopted,
                            encode(told, mailbox_.pool()));
    }
}

trace::Sink& ShareLead::join_models(trace::Record& record, std::function<void()> make_room)
{
    whole_.emplace(
        shares(), [&record](std::size_t bytes) { return record.has_room(bytes); },
        [this](std::size_t share, const SliceName& name) {
            mailbox_.send_aside(shares().ranks[share], transport::Tag::slice_wanted,
                                encode_values(mailbox_.pool(), name));
        });
    return models_.emplace(*whole_, record, std::move(make_room));
}

void ShareLead::join(const std::vector<StateVector>& slices, const TakePiece& take, Seconds now)
{
    ++joins_;
    for (std::size_t i = 0; i < slices.size(); ++i)
        whole_->add({SliceName::state, joins_, static_cast<std::int64_t>(i)}, *slices[i].numbers,
                    slices[i].numbers, slices[i].sliced,
                    [take, i](VectorPiece piece) { take(i, std::move(piece)); });
    tell({.kind = EngineEvent::Kind::join, .time = now});
}

void ShareLead::end(std::span<const ConstNumbers> models, trace::Record& record, Seconds now)
{
    for (std::size_t i = 0; i < models.size(); ++i)
        whole_->add({SliceName::finished, 0, static_cast<std::int64_t>(i)}, models[i], nullptr,
                    true, [&record, i, count = models.size()](VectorPiece piece) {
                        record.put(trace::final_models, among(std::move(piece), i, count));
                    });
    tell({.kind = EngineEvent::Kind::end, .time = now, .kept = models_->last()});
}

}  // namespace quorate
