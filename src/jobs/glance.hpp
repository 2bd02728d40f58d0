// SPDX-License-Identifier: BSD-2-Clause
// A short look at a trace, which may be one that is being written.
#pragma once

#include <optional>
#include <string>

namespace quorate {

/// What a short look tells. What the trace does not have is empty or 0.
struct Glance {
    std::string status = {}, clock = {};
    std::string job = {};     // of the scheduler that wrote it
    std::int64_t rounds = 0;  // done
    std::optional<std::int64_t> rounds_wanted = {};
    double seconds = 0;               // of all rounds
    double round_seconds = 0;         // mean of the last rounds
    std::optional<double> loss = {};  // of the last model scored, else the last estimate
    std::int64_t lost = 0;            // workers that died, each counted once
    double age = 0;                   // seconds since the file changed
};

/// Looks at a trace: some attributes, the last rounds, and the scores. Tries again if the file is
/// caught in the middle of a commit. Local; holds libraries() meanwhile.
/// @return nothing if there is no file
/// @throws BadInput or Failure if it cannot be read
std::optional<Glance> glance(const std::string& trace);

}  // namespace quorate
