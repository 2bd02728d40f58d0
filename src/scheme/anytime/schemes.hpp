// SPDX-License-Identifier: BSD-2-Clause
// The options of the schemes whose workers compute as much as they can in a time, or make steps of
// their own. Each member is the option of its name.
#pragma once

#include <optional>

#include "scheme/rounds/adaptive_deadline.hpp"

namespace quorate {

// Compute times that a run chooses from the times of fixed minibatches.
inline constexpr Seconds chosen_time = 0;    // (1 + n / batch) times their mean time
inline constexpr Seconds matched_time = -1;  // in which a worker computes one of them on average

struct AmbOptions {
    enum class Weights { samples, equal, shard };
    Seconds compute_time = chosen_time;
    std::optional<std::int64_t> probe = {}, micro_batch = {};
    Seconds communication_time = never;
    std::optional<std::int64_t> samples_cap = {};
    Weights weights = Weights::samples;
    static SchemeEntry<AmbOptions> entry();
};

struct AnytimeSgdOptions {
    Seconds compute_time = chosen_time;
    std::optional<std::int64_t> probe = {}, micro_batch = {};
    Seconds communication_time = never;
    std::int64_t local_steps = 10;
    double outer_step = 1;
    static SchemeEntry<AnytimeSgdOptions> entry();
};

struct LocalAverageOptions {
    std::int64_t local_steps = 10;
    double outer_step = 1;
    std::optional<int> collect = {};  // none: all
    RoundLimit deadline = {};
    static SchemeEntry<LocalAverageOptions> entry();
};

struct AmbDgOptions {
    Seconds compute_time = chosen_time;
    std::optional<std::int64_t> micro_batch = {}, samples_cap = {}, staleness_cap = {};
    static SchemeEntry<AmbDgOptions> entry();
};

}  // namespace quorate
