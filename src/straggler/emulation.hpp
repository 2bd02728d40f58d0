// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "straggler/models.hpp"

namespace quorate {

/// How the tasks of one machine straggle. A machine pays the delay of a draw once: a second task of
/// the same draw waits for what is left of it. Local.
class StragglerEmulation {
public:
    /// Begins a task: looks up its draws, unless the task before had the same.
    /// @param load  share of the training rows that the task computes on
    /// @param now   point in time from which the delay counts, seconds of the fleet's clock
    void begin(const StragglerModels& models, int machine, std::int64_t draw, double load,
               Seconds now)
    {
        if (draw == draw_) return;
        draw_ = draw;
        slowdown_ = models.slowdowns.draw(machine, draw, load);
        row_delay_ = models.row_delays.draw(machine, draw, load);
        message_delay_ = models.uplink_delays.draw(machine, draw, load);
        delayed_until_ = now + models.delays.draw(machine, draw, load);
    }
    /// Makes the next task pay its delay whatever its draw is, because another machine does it.
    void forget() { draw_ = -1; }

    /// The factor of computing times.
    double slowdown() const { return slowdown_; }
    /// Seconds of each row on top of its computing time.
    Seconds row_delay() const { return row_delay_; }
    /// Seconds that rows take with the row time of the models, at least.
    Seconds seconds_for(double rows, const StragglerModels& models) const
    {
        return rows * models.row_time * slowdown_ + rows * row_delay_;
    }
    /// Seconds by which each message of the draw is late.
    Seconds message_delay() const { return message_delay_; }
    /// The point in time at which computing begins.
    Seconds delayed_until() const { return delayed_until_; }

private:
    std::int64_t draw_ = -1;  // of the newest task; -1: none
    double slowdown_ = 1;
    Seconds row_delay_ = 0, message_delay_ = 0, delayed_until_ = 0;
};

}  // namespace quorate
