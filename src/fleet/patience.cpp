// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/patience.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

namespace quorate {

Seconds clock_seconds()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<Seconds>(now.tv_sec) + 1e-9 * static_cast<Seconds>(now.tv_nsec);
}

void Patience::rest(Seconds at_most)
{
    constexpr int yields = 10;
    constexpr Seconds shortest = 20e-6;
    if (rests_ == 0) since_ = clock_seconds();
    if (rests_++ < yields) {
        sched_yield();
        return;
    }
    const Seconds waited = clock_seconds() - since_;
    const Seconds nap = std::min(std::clamp(waited / 8, shortest, bound_), at_most);
    if (nap <= 0) return;
    const timespec sleep{0, static_cast<long>(std::min(nap, 0.5) * 1e9)};
    nanosleep(&sleep, nullptr);
}

}  // namespace quorate
