// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/seconds.hpp"

namespace quorate {

/// A model of the network: a message takes latency + bytes / bandwidth. With a shared port the
/// coordinator sends one message at a time and receives one at a time, in the order in which they
/// come; else each worker has a link of its own.
struct Network {
    Seconds latency = 0;
    double bandwidth = std::numeric_limits<double>::infinity();  // bytes a second
    bool shared_port = true;

    /// Messages take no time.
    bool free() const { return latency == 0 && wire(1) == 0; }
    /// Seconds for which bytes occupy a port or link.
    Seconds wire(std::int64_t bytes) const { return static_cast<double>(bytes) / bandwidth; }
};

/// A port that passes one message at a time.
class Port {
public:
    /// @param at  when the message comes to the port; calls in ascending order
    /// @return when it has passed
    Seconds pass(Seconds at, Seconds wire) { return free_ = std::max(free_, at) + wire; }
    Seconds free_at() const { return free_; }

private:
    Seconds free_ = 0;
};

}  // namespace quorate
