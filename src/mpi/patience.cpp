// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/patience.hpp"

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
    constexpr int yields = 3;
    constexpr Seconds shortest = 20e-6;
    constexpr Seconds longest = 0.5;  // so that a signal's flag is looked at in time
    const bool bell = bells_ && bells_->present();
    if (rests_ == 0) since_ = clock_seconds();
    if (rests_++ < yields) {
        if (bell) heard_ = bells_->rings();
        sched_yield();
        return;
    }
    const Seconds waited = clock_seconds() - since_;
    const Seconds patient = bell ? 10 : 1;
    const Seconds nap = std::min(
        {std::clamp(patient * waited / 8, patient * shortest, patient * bound_), at_most, longest});
    if (nap <= 0) return;
    if (bell) {
        bells_->wait(heard_, nap);  // returns at once if it rang since the caller looked
        heard_ = bells_->rings();
        return;
    }
    const timespec sleep{0, static_cast<long>(nap * 1e9)};
    nanosleep(&sleep, nullptr);
}

}  // namespace quorate
