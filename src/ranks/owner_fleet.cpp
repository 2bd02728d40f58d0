// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/owner_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/error.hpp"
#include "fleet/shares.hpp"

namespace quorate {

namespace {

// Tells whether the process of a rank of this host has ended.
std::function<bool(int)> gone(std::span<const Peer> peers)
{
    std::map<int, pid_t> processes;
    for (const auto& peer : peers)
        processes[static_cast<int>(peer.rank)] = static_cast<pid_t>(peer.contributions.process);
    return [processes = std::move(processes)](int rank) {
        const auto known = processes.find(rank);
        return known == processes.end() || (kill(known->second, 0) != 0 && errno == ESRCH);
    };
}

}  // namespace

OwnerFleet::OwnerFleet(transport::Relay& relay, const Ownership& ownership, Wire wire,
                       Precision precision, int ranks)
    : relay_(relay), precision_(precision),
      share_(ownership, wire, precision, ranks, gone(ownership.peers), pool_,
             [this](int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes) {
                 relay_.post(rank, tag, std::move(bytes));
             })
{
    for (const auto& worker : share_.ownership().workers) info_.push_back(worker.info);
    for (const auto& peer : share_.ownership().peers)
        peers_[peer.worker] = BorrowedBlocks(peer.contributions, 1, 0);
    relay_.post(0, transport::Tag::owns, pool_.take(0));
}

// --- messages ------------------------------------------------------------------------------------

void OwnerFleet::receive()
{
    auto message = relay_.receive();
    if (message.tag == transport::Tag::event) {
        const auto& own = share_.ownership();
        for (const int next :
             told_by(static_cast<int>(own.share), static_cast<int>(own.shares.count())))
            relay_.post(own.shares.ranks[static_cast<std::size_t>(next)], message.tag,
                        message.bytes);
        events_.push_back(decode_event(*message.bytes));
    } else if (message.tag == transport::Tag::own) {
        codings_.push_back(decode_ownership(*message.bytes).workers);
    } else if (message.tag == transport::Tag::past) {
        past_ = std::move(message.bytes);
    } else if (message.tag == transport::Tag::slice_wanted) {
        take_wish(MessageReader(*message.bytes).get<SliceName>());
    } else if (message.tag == transport::Tag::adopted) {
        adopted_.push_back(decode_adopted(*message.bytes, share_.ownership().shares.bounds.back()));
    } else if (!share_.take(message)) {
        throw Failure("an owner got a message that is not for owners: report this as a bug");
    }
}

EngineEvent OwnerFleet::next_event()
{
    while (events_.empty()) receive();
    auto event = std::move(events_.front());
    events_.pop_front();
    now_ = std::max(now_, event.time);
    return event;
}

std::shared_ptr<transport::Bytes> OwnerFleet::begin()
{
    next_event();
    while (!past_) receive();  // others hand events on, which so may come first
    return past_->size() > 0 ? std::move(past_) : nullptr;
}

std::int64_t OwnerFleet::end()
{
    while (!ended_) wait(never, ended_);
    return kept_;
}

std::vector<Arrival> OwnerFleet::wait(Seconds until, const std::atomic<bool>&)
{
    share_.send_points();
    auto event = next_event();
    // These are nothing to the engine, which would take the end of a wait for a timer.
    for (;; event = next_event())
        if (event.kind == EngineEvent::Kind::join)
            hold_vectors();
        else if (event.kind == EngineEvent::Kind::state)
            keep_();
        else
            break;
    switch (event.kind) {
        case EngineEvent::Kind::begin:
        case EngineEvent::Kind::join:
        case EngineEvent::Kind::state: break;
        case EngineEvent::Kind::arrivals: return hold(std::move(event.arrivals));
        case EngineEvent::Kind::timer:
            if (until != never) now_ = std::max(now_, until);
            timer_ = event.timer;
            break;
        case EngineEvent::Kind::changes: changes_ = std::move(event.changes); break;
        case EngineEvent::Kind::end:
            kept_ = event.kept;
            ended_ = true;
            break;
    }
    return {};
}

void OwnerFleet::fired(int timer)
{
    if (std::exchange(timer_, -1) != timer)
        throw Failure(
            "the owner of a share does not follow the coordinator: the hosts compute differently; "
            "use hosts with equal processors and libraries, or --aggregate node");
}

void OwnerFleet::reencode(std::shared_ptr<const Coding>, std::span<const Worker>)
{
    while (codings_.empty()) receive();
    share_.reencode(std::move(codings_.front()));
    codings_.pop_front();
}

// --- contributions -------------------------------------------------------------------------------

// Takes hold of what workers of this host have computed. The parts of a message lie in one block.
std::vector<Arrival> OwnerFleet::hold(std::vector<EngineEvent::Came> arrivals)
{
    std::shared_ptr<const double> memory;
    if (!arrivals.empty()) {
        const auto& last = arrivals.back();
        const auto peer = peers_.find(last.at.worker);
        if (last.at.block != 0 && peer != peers_.end())
            memory = peer->second.borrow(
                last.at.block,
                doubles_for(static_cast<std::size_t>(last.first + last.length), precision_));
    }
    std::vector<Arrival> told;
    for (auto& came : arrivals) {
        came.arrival.handle = contributions_.take();
        contributions_.at(came.arrival.handle) = {came.arrival.worker,
                                                  came.losses,
                                                  memory,
                                                  static_cast<std::size_t>(came.first),
                                                  static_cast<std::size_t>(came.length),
                                                  nullptr};
        told.push_back(std::move(came.arrival));
    }
    return told;
}

std::size_t OwnerFleet::adopt(Worker, const Values&)
{
    while (adopted_.empty()) receive();
    const auto one = std::make_shared<const Adopted>(std::move(adopted_.front()));
    adopted_.pop_front();
    const auto handle = contributions_.take();
    contributions_.at(handle) = {one->worker, one->losses, nullptr, 0, 0, one};
    return handle;
}

Values OwnerFleet::values(std::size_t handle)
{
    const auto& one = contributions_.at(handle);
    if (one.adopted && one.adopted->support)
        return {*one.adopted->support, std::span<const double>(one.adopted->values), one.losses};
    const auto& whole = share_.ownership().workers[static_cast<std::size_t>(one.worker)].whole;
    if (!one.memory || !whole)
        throw Failure(
            fmt::format("a contribution of worker {} does not lie in its memory, where the owner "
                        "of its host's share reads it: start fewer ranks on the host, or use "
                        "--aggregate flat",
                        one.worker));
    const auto numbers =
        numbers_at(static_cast<const void*>(one.memory.get()), one.first + one.length, precision_);
    return {*whole, packed(numbers.subspan(one.first, one.length)), one.losses};
}

void OwnerFleet::release(std::size_t handle)
{
    contributions_.at(handle) = {};
    contributions_.give_back(handle);
}

// --- sums ----------------------------------------------------------------------------------------

std::vector<std::optional<Values>> OwnerFleet::sums(std::span<const std::vector<Weighted>> groups)
{
    share_.begin_sums(groups, [this](std::size_t handle) { return values(handle); });
    while (!share_.has_sums()) receive();
    return share_.sums();
}

void OwnerFleet::sum_of_blocks(std::span<const double> blocks, std::span<double> sums, bool decides)
{
    share_.report(blocks, decides);
    std::ranges::fill(sums, 0);
    if (!decides) return;
    while (!share_.has_reports()) receive();
    share_.total(sums);
}

// --- slices for the coordinator ------------------------------------------------------------------

void OwnerFleet::hold(const SliceName& name, ConstNumbers slice, std::shared_ptr<const void> memory)
{
    if (wanted_.erase(name) > 0) return send_slice(name, slice);
    if (name.kind == SliceName::kept) bytes_of_kept_ += slice.bytes();
    held_.emplace(name, Slice{slice, std::move(memory)});
}

void OwnerFleet::hold_vectors()
{
    ++joined_;
    const auto vectors = vectors_();
    for (std::size_t i = 0; i < vectors.size(); ++i)
        if (const auto& [numbers, sliced] = vectors[i]; sliced)
            hold({SliceName::state, joined_, static_cast<std::int64_t>(i)}, *numbers, numbers);
}

void OwnerFleet::hold_kept(std::int64_t round, const Point& slice)
{
    while (bytes_of_kept_ >= 2 * trace::iterates_in_memory) receive();
    hold({SliceName::kept, round, 0}, *slice, slice);
}

// The coordinator asks for a slice, perhaps before this engine has come so far.
void OwnerFleet::take_wish(const SliceName& name)
{
    const auto at = held_.find(name);
    if (at == held_.end() &&
        (handing_over_ || (name.kind == SliceName::state && name.number <= joined_)))
        throw Failure(
            "the owner of a share lacks a vector that the coordinator has: the hosts compute "
            "differently; use hosts with equal processors and libraries, or --aggregate node");
    if (at == held_.end()) {
        wanted_.insert(name);
        return;
    }
    const auto& slice = at->second.numbers;
    if (name.kind == SliceName::kept) bytes_of_kept_ -= slice.bytes();
    send_slice(name, slice);
    held_.erase(at);
}

void OwnerFleet::send_slice(const SliceName& name, ConstNumbers slice)
{
    relay_.post(0, transport::Tag::slice, make_message(pool_, [&](MessageWriter& out) {
                    slice.visit([&]<class T>(std::span<const T> numbers) {
                        out.put(SliceHead{name, share_.ownership().share,
                                          static_cast<std::int64_t>(slice.precision()),
                                          std::ssize(numbers)});
                        out.numbers<T>(numbers.size(),
                                       [&](T* at) { std::ranges::copy(numbers, at); });
                    });
                }));
}

void OwnerFleet::hand_over()
{
    handing_over_ = true;
    while (!held_.empty()) receive();
}

}  // namespace quorate
