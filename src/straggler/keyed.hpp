// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "base/random.hpp"
#include "straggler/delay.hpp"

namespace quorate {

/// Where a model's random numbers come from: a stream of its own for each (machine, draw), so that
/// a value depends on the run's seed and on these two alone.
class Draws {
public:
    explicit Draws(const DelaySetup& setup) : seed_(setup.seed), purpose_(setup.purpose) {}
    Stream stream(int machine, std::int64_t draw) const
    {
        return {seed_, purpose_, static_cast<std::uint32_t>(machine),
                static_cast<std::uint32_t>(draw)};
    }

private:
    std::uint64_t seed_;
    Purpose purpose_;
};

}  // namespace quorate
