// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "base/seconds.hpp"
#include "straggler/delay.hpp"

namespace quorate {

/// How machines are made to straggle.
struct StragglerModels {
    Seconds row_time;  // computing a row takes at least that long, times the slowdown
    DelayModel& delays;
    DelayModel& slowdowns;
};

/// How the tasks of one machine straggle. A draw's delay is paid once: a second task of the same draw waits
/// for what is left of it. Local.
class StragglerEmulation {
public:
    /// A task begins. @param load  share of the training rows that it computes on
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
    /// The next task pays its delay whatever its draw: another machine does it.
    void forget() { draw_ = -1; }

    double slowdown() const { return slowdown_; }
    /// Seconds by which each message of the draw is late.
    Seconds message_delay() const { return message_delay_; }
    /// When computing begins.
    Seconds delayed_until() const { return delayed_until_; }

private:
    std::int64_t draw_ = -1;  // the newest
    double slowdown_ = 1;
    Seconds message_delay_ = 0, delayed_until_ = 0;
};

}  // namespace quorate
