// SPDX-License-Identifier: BSD-2-Clause
#include "transport/backoff.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "transport/clock.hpp"

namespace quorate {

void Backoff::wait(Seconds at_most, bool bell_tells)
{
    constexpr int yields = 3;
    constexpr Seconds shortest = 20e-6;
    constexpr Seconds longest = 0.5;  // so that the caller sees the flag of a signal in time
    const bool bell = bells_ && bells_->present();
    if (waits_ == 0) since_ = clock_seconds();
    // With a bell, the caller looks once more after the rings were counted, and then sleeps.
    if (waits_++ < (bell ? 1 : yields)) {
        if (bell)
            received_ = bells_->rings();
        else
            sched_yield();
        return;
    }
    const Seconds waited = clock_seconds() - since_;
    const Seconds scale = !bell ? 1 : bells_->all_ring() ? 100 : 10;
    const Seconds least = scale * (scale == 100 && bell_tells ? bound_ : shortest);
    const Seconds nap =
        std::min({std::clamp(scale * waited / 8, least, scale * bound_), at_most, longest});
    if (nap <= 0) return;
    if (bell) {
        // It returns at once if the bell has rung since the caller looked for messages.
        bells_->wait(received_, nap);
        received_ = bells_->rings();
        return;
    }
    const timespec sleep{0, static_cast<long>(nap * 1e9)};
    nanosleep(&sleep, nullptr);
}

}  // namespace quorate
