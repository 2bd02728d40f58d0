// SPDX-License-Identifier: BSD-2-Clause
// Waiting without spinning. There may be more ranks than cores, and a rank that spins would take
// the core from a rank that computes.
#pragma once

#include "transport/doorbell.hpp"

namespace quorate {

/// The sleeps of a rank that looks for messages in a loop: the caller looks, and calls wait() if
/// there was nothing.
///
/// The first three waits yield the core. Each later one sleeps for an eighth of the time waited so
/// far, at least 20 us and at most a bound. So a rank reacts late by at most an eighth of its wait,
/// and a long wait costs next to nothing. Where a doorbell rings, nobody yields, and the sleeps end
/// with the ring and are ten times as long, or a hundred times where one rings for each message;
/// where nothing is left to do for a message whose bell has rung, the first is as long as the bound
/// allows. No sleep is longer than 0.5 s, so that flags set by signals are seen in time. Local.
class Backoff {
public:
    /// @param bound  longest sleep without a doorbell, seconds
    /// @param bells  must outlive this object; null: there is no doorbell
    explicit Backoff(Seconds bound, Doorbells* bells = nullptr) : bound_(bound), bells_(bells) {}
    /// Lets the next wait begin with the shortest sleep. To be called when something was received.
    void reset() { waits_ = 0; }
    /// Yields or sleeps once, for at most `at_most` seconds.
    /// @param bell_tells  whether all that the caller waits for is there to be seen when its bell
    ///                    rings. Then no sleep need be short, if everybody has a bell
    void wait(Seconds at_most = never, bool bell_tells = false);

private:
    Seconds bound_;
    Doorbells* bells_;
    std::uint32_t received_ = 0;  // rings of the bell before the caller last looked for messages
    Seconds since_ = 0;           // when this series of waits began
    int waits_ = 0;               // in this series
};

}  // namespace quorate
