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
/// and a long wait costs next to nothing. Where there is a doorbell, nobody yields, and a ring ends
/// the sleep and lets the next ones be short again. No sleep is longer than 0.5 s, so that flags
/// set by signals are seen in time. Local.
class Backoff {
public:
    /// For what the caller's bell rings.
    enum class Rings {
        nothing,    // that the caller knows of
        most,       // of what it waits for: sleeps are ten times as long
        all,        // perhaps before it is there to be seen: a hundred times as long
        all_there,  // and it is there to be seen: even the first sleep is as long as it may be
    };
    /// @param bound  longest sleep where nobody rings, seconds
    /// @param bells  must outlive this object; null: there is no doorbell
    /// @param rung   longest sleep where the bell rings for all, seconds
    explicit Backoff(Seconds bound, Doorbells* bells = nullptr, Seconds rung = 0)
        : bound_(bound), bells_(bells), rung_(rung)
    {
    }
    /// Lets the next wait begin with the shortest sleep. To be called when something was received.
    void reset() { waits_ = 0; }
    /// Yields or sleeps once, for at most `at_most` seconds.
    void wait(Seconds at_most = never, Rings rings = Rings::nothing);

private:
    Seconds sleep(Seconds waited, Rings rings) const;
    Seconds bound_;
    Doorbells* bells_;
    Seconds rung_;
    std::uint32_t received_ = 0;  // rings of the bell before the caller last looked for messages
    Seconds since_ = 0;           // when this series of waits began
    int waits_ = 0;               // in this series
};

}  // namespace quorate
