// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "base/seconds.hpp"
#include "mpi/doorbell.hpp"

namespace quorate {

/// Seconds on a monotonic clock; only differences mean anything.
Seconds clock_seconds();

/// How to wait without burning a core, which oversubscribed ranks need for work: a few yields, then
/// sleeps of an eighth of the time waited so far, up to a bound. So the reaction is late by at most
/// an eighth of the wait, and a long wait costs next to nothing. Where a doorbell rings for each
/// message, the sleeps are ten times as long and end when it rings.
class Patience {
public:
    /// @param bound  longest sleep without a doorbell, seconds
    explicit Patience(Seconds bound, Doorbells* bells = nullptr) : bound_(bound), bells_(bells) {}
    /// Something happened: the next wait begins anew.
    void reset() { rests_ = 0; }
    /// One rest, of at most `at_most` seconds.
    void rest(Seconds at_most = never);

private:
    Seconds bound_;
    Doorbells* bells_;
    std::uint32_t heard_ = 0;  // rings of the bell before the caller last looked for messages
    Seconds since_ = 0;
    int rests_ = 0;
};

}  // namespace quorate
