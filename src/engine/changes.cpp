// SPDX-License-Identifier: BSD-2-Clause
// The part of the engine that handles workers that leave, die and join.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "engine/engine.hpp"

namespace quorate {

namespace {

MembershipTable::Status status_after(Change::Kind kind)
{
    switch (kind) {
        case Change::Kind::joined: return MembershipTable::Status::active;
        case Change::Kind::left: return MembershipTable::Status::away;
        case Change::Kind::died: return MembershipTable::Status::dead;
        default: return MembershipTable::Status::loading;
    }
}

}  // namespace

// A scheme cannot see that it waits in vain, because to the scheme a lost worker is just one that
// has not answered yet. The engine can see it: all workers that are left have answered what they
// were asked, and no timer runs. Or the scheme itself has said that no decode is possible
// (Undecodable).
bool Engine::nobody_can_answer() const
{
    return !undecodable_.empty() || (!members_.anybody_owes() && timers_.empty());
}

// Whether workers are still to come that the run may wait for: a standby rank that is loading, or
// one that is to join later. Where no worker is left, the engine waits whatever the option on_loss
// says.
bool Engine::waits_for_workers() const
{
    if (!members_.all(MembershipTable::Status::loading).empty()) return true;
    const bool wanted =
        options_.on_loss == OnLoss::wait || members_.all(MembershipTable::Status::active).empty();
    return wanted && (options_.churn.joins() || fleet_->joins());
}

// Re-encodes, because those who are left can give no estimate. Fails if the option on_loss or the
// scheme does not allow it, or if the code is for the same workers already.
void Engine::reencode_or_fail()
{
    auto why = std::exchange(undecodable_, "");
    if (why.empty()) why = "all workers that are left have answered";
    if (members_.all(MembershipTable::Status::active) == coded_for_ ||
        options_.on_loss != OnLoss::reencode || needs_.membership)
        fail(why);
    reencode(why);
}

// Makes the scheme again for the active workers. The model and its optimiser go on. Fails if there
// are none. @param why  it is to be made again
void Engine::reencode(const std::string& why)
{
    const auto active = members_.all(MembershipTable::Status::active);
    if (active.empty()) fail(why);
    undecodable_.clear();
    reencode_next_ = false;
    carry_out(Close{0, next_task_});
    events_.clear();
    timers_.clear();
    coding_ = largest_coding(static_cast<int>(active.size()));
    if (coding_->needs.models != needs_.models) fail(why);
    std::vector<Version> newest;
    for (int model = 0; model < needs_.models; ++model) newest.push_back(points_.newest(model));
    const std::vector<Worker> members(active.begin(), active.begin() + coding_->workers());
    names_ = Renumbering(members, next_task_, next_draw_, std::move(newest), points_.next());
    scheme_ = coding_->scheme.get();
    needs_ = coding_->needs;
    table_ = SumTable(needs_.slots);
    estimates_->forget_last();
    local_.all_lost();
    cached_.all_lost();
    fleet_->reencode(coding_, members);
    note_membership(trace::Change::reencoded, coding_->workers());
    if (observer_.note)
        observer_.note(fmt::format("re-encoded for {} workers after round {}{}", coding_->workers(),
                                   round_, coding_->changed));
    start(active);
}

// Returns the scheme for as many of the workers as possible, because not every code exists for
// every number of workers. The others stay idle.
std::shared_ptr<const Coding> Engine::largest_coding(int workers) const
{
    std::string why;
    for (int some = workers; some > 0; --some) {
        try {
            return options_.reencode(some);
        } catch (const BadInput& none) {
            if (why.empty()) why = none.what();
        }
    }
    fail(fmt::format("the scheme cannot be made for {} workers: {}", workers, why));
}

void Engine::fail(const std::string& why) const
{
    auto gone = members_.all(MembershipTable::Status::dead);
    for (const auto worker : members_.all(MembershipTable::Status::away)) gone.push_back(worker);
    std::ranges::sort(gone);
    throw Failure("no estimate is possible any more: " + why +
                  (gone.empty() ? "" : fmt::format("; gone: worker {}", fmt::join(gone, ", "))));
}

// Asks the fleet for those of the wanted changes that are possible, because it accepts no others.
void Engine::change(const std::vector<Change>& wanted)
{
    using Status = MembershipTable::Status;
    for (const auto& change : wanted) {
        const auto status = members_.status(change.worker);
        const bool possible = change.kind == Change::Kind::joined ? status == Status::away
                              : change.kind == Change::Kind::left
                                  ? status == Status::active
                                  : status == Status::active || status == Status::away;
        if (possible) fleet_->change(change);
    }
    receive_changes();
}

// @return whether anything has changed
bool Engine::receive_changes()
{
    const auto changes = fleet_->changes(event_ + 1);
    receive(changes);
    if (std::ranges::find(changes, Change::Kind::resumed, &Change::kind) != changes.end())
        reencode("the run was resumed with other workers");
    return !changes.empty();
}

// Takes note of changes that have come together. Between those that came one after the other the
// scheme was told of the first, and may have acted, so the trace keeps them apart.
void Engine::receive(const std::vector<Change>& changes)
{
    if (!changes.empty() && event_ == changed_) note_membership(trace::Change::apart, -1);
    for (const auto& change : changes) receive(change);
    if (!changes.empty()) changed_ = event_;
}

// Takes note of a change. A scheme whose Needs ask for membership is told of it. To any other
// scheme a worker that joins again is one that was late, so it gets its open tasks once more. For a
// worker that the scheme does not know, the run is re-encoded after the next step, if on_loss
// allows that.
void Engine::receive(const Change& change)
{
    const auto worker = change.worker;
    if (change.kind == Change::Kind::resumed) {
        carry_out(Close{0, next_task_});
        note_membership(change.kind, worker);
        return;
    }
    if (change.kind == Change::Kind::reset) {
        local_.all_lost();
        fleet_->forget_states();
        note_membership(change.kind, worker);
        return;
    }
    local_.lost(worker);
    const bool known = names_.scheme_of(worker) >= 0;
    const bool was_here = members_.active(worker);
    members_.set(worker, status_after(change.kind));
    note_membership(change.kind, worker);
    if (observer_.change) observer_.change(change, round_ + 1);
    if (change.kind != Change::Kind::joined) {
        if (needs_.membership && was_here && known) events_.push_back(WorkerLost{worker});
        return;
    }
    undecodable_.clear();
    workers_ = std::max<std::int64_t>(workers_, worker + 1);
    if (known && needs_.membership) {
        events_.push_back(WorkerJoined{worker});
    } else if (known) {
        open_.for_each([&](const OpenTask& open) {
            if (open.worker == worker) hand_over_again(open);
        });
    } else if (options_.on_loss == OnLoss::reencode) {
        reencode_next_ = true;
    }
}

// A resumed run has no states that tasks have left: workers had them, and a checkpoint has none.
void Engine::reset_states() { receive(std::vector{Change{Change::Kind::reset, -1}}); }

void Engine::note_membership(trace::Change kind, std::int64_t worker)
{
    trace_->add(
        trace::Membership{++event_, fleet_->now(), worker, static_cast<std::int64_t>(kind)});
}

}  // namespace quorate
