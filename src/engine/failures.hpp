// SPDX-License-Identifier: BSD-2-Clause
// Failures and repairs at random times.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/seconds.hpp"
#include "fleet/fleet.hpp"

namespace quorate {

/// Units of workers, which fail and are repaired independently of each other: workers, or hosts
/// with all of their workers. The times to a failure and to its repair are exponential. A worker
/// that fails leaves at once, and joins again when it is repaired. Local; used by one thread.
class Failures {
public:
    /// @param between  mean seconds from the begin, or from a repair, to the failure of a unit
    /// @param repair   mean seconds from a failure to its repair
    /// @param size     workers of a unit, with consecutive numbers; the last one may have fewer
    Failures(Seconds between, Seconds repair, int size, int workers, std::uint64_t seed);

    /// When a unit fails or is repaired next, in seconds of the run's clock.
    Seconds next() const { return next_.top().first; }
    /// Returns the changes of that moment, which is then over. O(size + log units).
    std::vector<Change> pass();
    /// Whether a repair is to come.
    bool joins() const { return away_ > 0; }

private:
    struct Unit {
        Stream stream;
        bool away = false;
    };
    using Moment = std::pair<Seconds, std::size_t>;  // and its unit

    Seconds between_, repair_;
    int size_, workers_;
    std::vector<Unit> units_;
    std::priority_queue<Moment, std::vector<Moment>, std::greater<>> next_;  // of each unit
    int away_ = 0;                                                           // units
};

}  // namespace quorate
