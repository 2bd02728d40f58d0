// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "base/seconds.hpp"
#include "straggler/delay.hpp"

namespace quorate {

/// The models by which machines are made to straggle. They must outlive this.
struct StragglerModels {
    Seconds row_time;  // computing a row takes at least so long, times the slowdown
    DelayModel& delays;
    DelayModel& slowdowns;
};

/// How the tasks of one machine straggle. A machine pays the delay of a draw once: a second task of
/// the same draw waits for what is left of it. Local.
class StragglerEmulation {
public:
    /// Begins a task: looks up delay and slowdown, unless the task before had the same draw.
    /// @param load  share of the training rows that the task computes on
    /// @param now   point in time from which the delay counts, seconds of the fleet's clock
    void begin(const StragglerModels& models, int machine, std::int64_t draw, double load,
               Seconds now)
    {
        if (draw == draw_) return;
        draw_ = draw;
        slowdown_ = models.slowdowns.draw(machine, draw, load);
        const auto delay = models.delays.draw(machine, draw, load);
        message_delay_ = models.delays.on_reception() ? delay : 0;
        delayed_until_ = now + delay - message_delay_;
    }
    /// Makes the next task pay its delay whatever its draw is, because another machine does it.
    void forget() { draw_ = -1; }

    /// The factor of computing times.
    double slowdown() const { return slowdown_; }
    /// Seconds by which each message of the draw is late.
    Seconds message_delay() const { return message_delay_; }
    /// The point in time at which computing begins.
    Seconds delayed_until() const { return delayed_until_; }

private:
    std::int64_t draw_ = -1;  // of the newest task; -1: none
    double slowdown_ = 1;
    Seconds message_delay_ = 0, delayed_until_ = 0;
};

}  // namespace quorate
