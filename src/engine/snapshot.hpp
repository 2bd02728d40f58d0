// SPDX-License-Identifier: BSD-2-Clause
// What a checkpoint saves of a run beside its trace, and what a run is resumed from. The state of a
// scheme is a function of the events that it was told, and the trace holds these events. So a
// resumed run first goes through its history, with the same engine and without computing anything,
// and no scheme needs to save its state.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fleet/fleet.hpp"
#include "trace/sink.hpp"

namespace quorate {

/// The state of a run after an update, as far as the trace does not tell it: vectors, and the
/// contributions still in use, which the trace lists only when their use is known.
struct Snapshot {
    std::int64_t event = 0, round = 0;     // numbers of the last event and round
    trace::Position position;              // how far the trace goes
    std::map<Version, Point> points;       // that later tasks and contributions may name
    std::vector<double> last_estimate;     // if the scheme asks for inner products
    std::vector<trace::Arrival> arrivals;  // the contributions in use
    std::vector<trace::ItemRow> items;     // of these
};

/// What a run is resumed from: a Snapshot, and what the trace holds of values that a resumed run
/// does not compute again.
struct Past {
    std::int64_t event = 0;  // the last one of the history
    Seconds ended = 0;       // when its last round did, which is later than the event of its step
    // The last round that was begun, if the run goes back: what was planned by then is over, and
    // may be what was lost.
    std::int64_t begun = 0;
    std::map<Version, std::vector<double>> points;
    std::vector<double> last_estimate;
    std::set<std::int64_t> resets;  // the events trace::Change::reset
    std::vector<double> inner;      // of each round, the inner product of its estimate and the last
    std::map<std::pair<std::int64_t, std::int64_t>, trace::Measure> measures;  // by event and part
};

}  // namespace quorate
