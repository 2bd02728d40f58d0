// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "run/training.hpp"

namespace quorate {

/// The mean time of a round: `delay` seconds of delays, and so many times what a worker computes
/// for a task.
struct ExpectedRound {
    double delay;
    double tasks = 1;
};

/// Returns the mean time of a round by a closed form. Workers compute equally long. If all begin at
/// once, the round ends with the k-th answer with the probability that k - 1 random answers do not
/// suffice and k do, which the scheme's entry knows (SchemeProperties::blocked). If none ever waits
/// (Pace::steady), updates come a task's mean time apart over their number while each worker
/// answers once: the answers of a worker are a renewal process. Local. O(n^2) for n workers.
/// @return nothing unless the closed forms of the scheme and of the delay model are known and
///         finite, and --delay alone makes workers straggle
std::optional<ExpectedRound> expected_round(const Settings& settings, const Training& training);

}  // namespace quorate
