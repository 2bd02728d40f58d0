// SPDX-License-Identifier: BSD-2-Clause
// Where the engine says how a run stands, and goes on with one that stood there.
#include <algorithm>
#include <iterator>

#include "engine/engine.hpp"

namespace quorate {

void Engine::take_snapshot()
{
    Snapshot snapshot{.event = event_,
                      .round = round_,
                      .position = trace_.position(),
                      .points = points_.all(),
                      .last_estimate = last_estimate_,
                      .arrivals = {},
                      .items = {}};
    fleet_->add_points(snapshot.points);
    for (const auto& one : live_) {
        snapshot.arrivals.push_back(one.row());
        std::ranges::copy(items_of(one), std::back_inserter(snapshot.items));
    }
    observer_.snapshot(std::move(snapshot));
}

void Engine::resume(Past past, Fleet* live)
{
    past_ = std::move(past);
    live_fleet_ = live;
}

// The run stands where the other one stood: it gets the vectors that are still named.
void Engine::end_of_past()
{
    for (auto& [version, values] : past_->points)
        if (const auto point = placeholders_[version].lock()) *point = std::move(values);
    if (needs_.inner_product) last_estimate_ = std::move(past_->last_estimate);
    placeholders_.clear();
    past_.reset();
    updated_ = false;
    if (live_fleet_) go_on_with(*live_fleet_);
}

// What came before is kept; what is still to come is asked again. All workers are there again.
void Engine::go_on_with(Fleet& live)
{
    auto& before = *fleet_;
    std::vector<std::size_t> handles;
    for (const auto& one : live_) handles.push_back(one.arrival.handle);
    before.prepare(handles);
    for (auto& one : live_) {
        auto& handle = one.arrival.handle;
        const auto values = before.values(handle);
        handle = live.adopt(one.arrival.worker, {values.packed.begin(), values.packed.end()},
                            values.loss);
    }
    fleet_ = &live;
    live.set_clock(before.now(), counts_);
    options_.membership.skip(live.now(), round_);
    bytes_sent_ = live.bytes_sent();
    bytes_received_ = live.bytes_received();
    if (coding_) {
        std::vector<Worker> members;
        for (Worker index = 0; index < coding_->workers(); ++index)
            members.push_back(names_.run_of(index));
        live.reencode(coding_, members);
    }
    for (const auto& open : open_)
        if (!open.answered()) hand_over(open);
    for (Worker worker = 0; worker < std::ssize(members_); ++worker)
        if (!members_.active(worker)) receive({Change::Kind::joined, worker});
}

}  // namespace quorate
