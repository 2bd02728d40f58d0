// SPDX-License-Identifier: BSD-2-Clause
// Where a run stands after an update, and how it comes to stand there again. A scheme is a function of
// the events that it was told, and the trace holds these: so a resumed run first goes through its history,
// with the same engine and without computing anything, and no scheme has anything to save.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fleet/fleet.hpp"
#include "trace/sink.hpp"

namespace quorate {

/// What the history does not tell: vectors, and contributions that are in use yet, which the trace lists
/// only when their use is known.
struct Snapshot {
    std::int64_t event = 0, round = 0;
    trace::Position position;
    std::map<Version, Point> points;    // that anything to come may name
    std::vector<double> last_estimate;  // if the scheme asks for inner products
    std::vector<trace::Arrival> arrivals;
    std::vector<trace::ItemRow> items;  // of these
};

/// What a run is resumed from.
struct Past {
    std::int64_t event = 0;
    std::map<Version, std::vector<double>> points;
    std::vector<double> last_estimate;
    std::vector<double> inner;                                                 // of each round
    std::map<std::pair<std::int64_t, std::int64_t>, trace::Measure> measures;  // by event and part
};

}  // namespace quorate
