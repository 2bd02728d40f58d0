// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "trace/rows.hpp"

namespace quorate {

/// Who is slow as a run goes on, over about the last fifty rounds. Local.
class SlowWorkers {
public:
    explicit SlowWorkers(int workers) : all_(static_cast<std::size_t>(workers)) {}

    /// Takes note of a contribution whose use is known.
    void arrived(const trace::Arrival& row);
    /// Takes note that a round is over. O(workers).
    void round_over();
    /// Answers that a round has used, on average.
    double used() const;
    /// Workers whose answers are used less than half as often as the median worker's, or take 1.5
    /// times as long; the slowest first. O(workers log workers).
    std::vector<int> slow() const;

private:
    struct Worker {
        double used = 0;     // answers, each round counting a fiftieth less than the next
        double seconds = 0;  // running mean of the time to an answer; 0: none has come
    };
    std::vector<Worker> all_;
    double rounds_ = 0;  // counted likewise
};

}  // namespace quorate
