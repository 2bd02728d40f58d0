// SPDX-License-Identifier: BSD-2-Clause
#include "transport/backoff.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "transport/clock.hpp"

namespace quorate {

// How long to sleep after so long a wait.
Seconds Backoff::sleep(Seconds waited, Rings rings) const
{
    constexpr Seconds shortest = 20e-6;
    switch (rings) {
        case Rings::nothing: break;
        case Rings::most: return std::clamp(10 * waited / 8, 10 * shortest, 10 * bound_);
        case Rings::all: return std::clamp(100 * waited / 8, 100 * shortest, rung_);
        case Rings::all_there: return rung_;
    }
    return std::clamp(waited / 8, shortest, bound_);
}

void Backoff::wait(Seconds at_most, Rings rings)
{
    constexpr int yields = 3;
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
    const Seconds nap = std::min({sleep(clock_seconds() - since_, rings), at_most, longest});
    if (nap <= 0) return;
    if (bell) {
        // It returns at once if the bell has rung since the caller looked for messages.
        bells_->wait(received_, nap);
        if (bells_->rings() != std::exchange(received_, bells_->rings())) reset();
        return;
    }
    const timespec sleep{0, static_cast<long>(nap * 1e9)};
    nanosleep(&sleep, nullptr);
}

}  // namespace quorate
