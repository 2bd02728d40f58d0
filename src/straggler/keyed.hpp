// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "base/random.hpp"
#include "straggler/delay.hpp"

namespace quorate {

/// The random numbers of a delay model: a stream for each (machine, draw). So a value depends only
/// on the run's seed, the machine and the draw.
class Draws {
public:
    explicit Draws(const DelaySetup& setup) : seed_(setup.seed), purpose_(setup.purpose) {}
    /// The stream of a draw, from its beginning. O(1).
    Stream stream(int machine, std::int64_t draw) const
    {
        return {seed_, purpose_, static_cast<std::uint32_t>(machine),
                static_cast<std::uint32_t>(draw)};
    }

private:
    std::uint64_t seed_;
    Purpose purpose_;
};

/// The base of models that draw random numbers. @tparam T  their arguments
template <class T>
class RandomDelay : public DelayModel {
public:
    RandomDelay(const T& given, const DelaySetup& setup) : given_(given), draws_(setup) {}

protected:
    T given_;
    Draws draws_;
};

}  // namespace quorate
