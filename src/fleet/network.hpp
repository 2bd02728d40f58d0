// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/seconds.hpp"

namespace quorate {

/// A model of the network: a message takes latency + bytes / bandwidth seconds. Where nobody knows
/// on which node each worker is, the coordinator with a shared port sends one message at a time and
/// receives one at a time, in the order in which they come; without, each worker has a link of its
/// own. Where nodes are known, each has a full-duplex link that its messages share (Links); with a
/// shared port the coordinator's node too, without that one never limits.
struct Network {
    Seconds latency = 0;
    double bandwidth = std::numeric_limits<double>::infinity();  // bytes a second
    bool shared_port = true;
    // Bytes a second that are read and written where a node adds up contributions.
    double memory_bandwidth = std::numeric_limits<double>::infinity();

    /// Whether messages take no time.
    bool free() const { return latency == 0 && wire(1) == 0; }
    /// Seconds for which a message of so many bytes occupies a port or a link.
    Seconds wire(std::int64_t bytes) const { return static_cast<double>(bytes) / bandwidth; }
};

/// A port that passes one message at a time, first come, first served.
class Port {
public:
    /// Passes a message.
    /// @param at    when it comes to the port; not earlier than in the call before
    /// @param wire  seconds for which it occupies the port
    /// @return when it has passed
    Seconds pass(Seconds at, Seconds wire) { return free_ = std::max(free_, at) + wire; }
    /// When the port has passed all messages so far.
    Seconds free_at() const { return free_; }

private:
    Seconds free_ = 0;
};

}  // namespace quorate
