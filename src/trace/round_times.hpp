// SPDX-License-Identifier: BSD-2-Clause
// Where the time of a run went, from the rows of its trace. Times are seconds. A trace that lists
// no arrivals says less; docs/trace.md defines the columns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/trace.hpp"

namespace quorate {

/// How long rounds waited for answers, and for what of the answer that ended each of them: its
/// delay, its computation and its message, as far as they lie in that round.
struct Waiting {
    double all = 0, delay = 0, computing = 0, message = 0;
};
/// The parts are 0 if the trace lists no contributions. O(rounds + arrivals).
Waiting waiting_of(const trace::Trace& trace);

/// How long one worker took to answer.
struct ResponseTime {
    std::int64_t worker;
    double mean;            // seconds
    std::int64_t answered;  // in so many rounds, before they ended; if not in_rounds: so many tasks
};
struct ResponseTimes {
    /// Whether tasks belong to rounds. Then a mean is from the beginning of a round to the worker's
    /// first answer, or to the end of a round in which it did not answer: its time is that or more.
    /// Otherwise it is from a task's dispatch to its answer.
    bool in_rounds;
    /// Without workers of which nothing is known. If in_rounds, those that were late oftenest come
    /// first.
    std::vector<ResponseTime> slowest_first;
};
/// Empty if the trace does not list all contributions. O(arrivals log arrivals).
ResponseTimes response_times(const trace::Trace& trace);

/// What the rounds would have taken with fewer answers, from the times of all answers.
struct Saving {
    int stragglers;   // that a round does without
    double coded;     // each worker computes stragglers + 1 times as long, as codes need
    double ignoring;  // each computes as long as it did: what the others hold is lost
};
/// Returns the number of stragglers whose code would have been fastest, of 1, 2, 4, ... up to half
/// of the workers; nothing unless one answer of every worker was used in every round, because only
/// then all times are known. Decoding and updates take as long as they took. O(arrivals log
/// workers).
std::optional<Saving> saving_of(const trace::Trace& trace);

}  // namespace quorate
