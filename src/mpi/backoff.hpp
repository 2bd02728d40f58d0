// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "mpi/doorbell.hpp"

namespace quorate {

/// Waiting without spinning, because oversubscribed ranks need the core for work: a few yields, then
/// sleeps of an eighth of the time waited so far, up to a bound. So the reaction is late by at most
/// an eighth of the wait, and a long wait costs next to nothing. Where a doorbell rings for each
/// message, the sleeps are ten times as long and end when it rings.
class Backoff {
public:
    /// @param bound  longest sleep without a doorbell, seconds
    explicit Backoff(Seconds bound, Doorbells* bells = nullptr) : bound_(bound), bells_(bells) {}
    /// Something happened: the next wait begins anew.
    void reset() { waits_ = 0; }
    /// One sleep, of at most `at_most` seconds.
    void wait(Seconds at_most = never);

private:
    Seconds bound_;
    Doorbells* bells_;
    std::uint32_t received_ = 0;  // rings of the bell before the caller last looked for messages
    Seconds since_ = 0;
    int waits_ = 0;
};

}  // namespace quorate
