// SPDX-License-Identifier: BSD-2-Clause
// A contribution as it came in, and the row of the trace that tells of it.
#pragma once

#include <cstddef>
#include <vector>

#include "scheme/types.hpp"
#include "trace/rows.hpp"

namespace quorate {

/// One contribution as it came in; its values stay with the fleet. `sent` and `arrived` are points
/// in time of the coordinator's clock (Fleet::now), in seconds: when the task was sent and when the
/// contribution was received.
struct Arrival : ContributionInfo {
    std::vector<Version> versions;  // of its items in their order, if they are cached; else empty
    Seconds sent, arrived;
    std::int64_t bytes;  // its share of the message, headers included
    std::size_t handle;  // the fleet's name for its values
};

/// What steps have made of a contribution.
struct Use {
    std::int64_t first = 0;  // the first round whose step used it; 0: none
    std::int64_t times = 0;  // how many steps have used it
};

/// @param event  with which it came  @param round  that was running then
trace::Arrival row_of(const Arrival& arrival, std::int64_t event, std::int64_t round,
                      const Use& use);
/// Returns the contribution that a row tells of, without the versions of its items and its handle.
Arrival arrival_of(const trace::Arrival& row);

}  // namespace quorate
