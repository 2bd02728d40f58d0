// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "straggler/models.hpp"

namespace quorate {

/// The way of messages to one machine. A task is late by its --downlink-delay. Messages do not
/// overtake each other: what follows a late task is late too. The workers of every fleet use it.
/// Local.
class Downlink {
public:
    /// Takes a task that would be there now.
    /// @param draw  its draw; nothing: the count of such tasks
    /// @return when it is there; nothing: now
    std::optional<Seconds> take(const StragglerModels& models, int machine,
                                std::optional<std::int64_t> draw, Seconds now)
    {
        const auto due = now + models.downlink_delays.draw(machine, draw ? *draw : count_++, 0);
        if (due <= now && !holds(now)) return {};
        return last_ = after(due);
    }
    /// Whether a late task is to come, or comes now.
    bool holds(Seconds now) const { return last_ >= now; }
    /// When a message is there that is no task, and would be there now.
    Seconds after(Seconds now) const { return std::max(now, last_); }
    /// Sets the number of tasks that are keyed by their count.
    void set_count(std::int64_t count) { count_ = count; }

private:
    Seconds last_ = -1;  // when the last late task is there
    std::int64_t count_ = 0;
};

}  // namespace quorate
