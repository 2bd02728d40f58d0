// SPDX-License-Identifier: BSD-2-Clause
// The part of the engine that takes snapshots for checkpoints, and resumes a run from one.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "engine/engine.hpp"

namespace quorate {

void Engine::take_snapshot()
{
    Snapshot snapshot{.event = event_,
                      .round = round_,
                      .position = trace_->position(),
                      .points = points_.all(),
                      .last_estimate = ConstNumbers(computed_.last()).doubles(),
                      .arrivals = {},
                      .items = {}};
    live_.for_each([&](const Live& one) {
        snapshot.arrivals.push_back(row(one));
        std::ranges::copy(items_of(one), std::back_inserter(snapshot.items));
    });
    observer_.snapshot(std::move(snapshot));
}

void Engine::resume(Past past, Fleet* live)
{
    history_ = std::make_unique<RecordedEstimates>(std::move(past));
    estimates_ = history_.get();
    later_trace_ = std::exchange(trace_, &nowhere_);
    later_fleet_ = live;
}

// Ends the history: the run is in the state in which the checkpoint was made. From here on the
// engine computes estimates, writes the trace and calls the observer.
void Engine::end_of_history()
{
    // The same events must have led to the same rounds, or the scheme is not the one that it was.
    if (const auto rounds = std::ssize(history_->past().inner); round_ != rounds)
        throw Failure(
            fmt::format("this Quorate ends rounds by another rule than that which wrote "
                        "the checkpoint: it makes {} of what was {}; use that one",
                        round_, rounds));
    history_->restore_points();
    if (needs_.looks_back()) copy(history_->past().last_estimate, computed_.last());
    estimates_ = &computed_;
    const auto ended = history_->past().ended;
    const auto begun = history_->past().begun;
    history_.reset();
    trace_ = later_trace_;
    observer_ = std::move(later_observer_);
    updated_ = false;
    if (options_.keeps_states()) reset_states();
    if (later_fleet_) go_on_with(*later_fleet_, ended, begun);
    if (observer_.goes_on) observer_.goes_on();
}

void RecordedEstimates::restore_points()
{
    for (const auto& [version, values] : past_.points)
        if (const auto known = points_.find(version); known != points_.end())
            if (const auto point = known->second.lock()) copy(values, *point);
}

// Goes on with a fleet that knows nothing of the history. If the code is for those who are there
// now, the fleet takes over the values of the contributions in use, and gets the tasks that are not
// answered once more. Otherwise the code is made for them, as after any change of membership, and
// what the others had sent or were asked is dropped.
void Engine::go_on_with(Fleet& live, Seconds ended, std::int64_t begun)
{
    auto& before = *fleet_;
    std::vector<Worker> here;
    for (Worker worker = 0; worker < std::ssize(members_); ++worker)
        if (live.workers()[static_cast<std::size_t>(worker)].rank >= 0) here.push_back(worker);
    const bool others = here != coded_for_;
    if (others) carry_out(Close{0, next_task_});
    if (coding_ && !others) {
        // Workers have what they were to hold in the beginning, if anything.
        std::vector<Worker> members;
        for (Worker index = 0; index < coding_->workers(); ++index)
            members.push_back(names_.run_of(index));
        live.reencode(coding_, members);
        live.load();
    }
    std::vector<std::size_t> handles;
    live_.for_each([&](const Live& one) { handles.push_back(one.arrival.handle); });
    before.prepare(handles);
    live_.for_each([&](Live& one) {
        auto& handle = one.arrival.handle;
        handle = live.adopt(one.arrival.worker, before.values(handle));
    });
    table_.rename([this](ContributionId id) { return this->live(id).arrival.handle; });
    fleet_ = &live;
    live.set_clock(std::max(before.now(), ended), counts_);
    options_.churn.skip(live.now(), std::max(round_, begun));
    bytes_sent_ = live.bytes_sent();
    bytes_received_ = live.bytes_received();
    open_.for_each([this](const OpenTask& open) { hand_over_again(open); });
    std::vector<Change> changes;
    if (others) changes.push_back({Change::Kind::resumed, static_cast<Worker>(here.size())});
    for (Worker worker = 0; worker < std::ssize(members_); ++worker) {
        const bool is_here = std::ranges::binary_search(here, worker);
        if (is_here == members_.active(worker)) continue;
        changes.push_back({is_here ? Change::Kind::joined : Change::Kind::left, worker});
    }
    receive(changes);
    if (!others) return;
    reencode("the run is resumed with other workers");
    live.load();
}

}  // namespace quorate
