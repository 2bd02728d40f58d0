// SPDX-License-Identifier: BSD-2-Clause
// Step sizes over the rounds of a run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/registry.hpp"

namespace quorate {

/// Returns the step size after t batches of samples. Where each round takes a whole batch, that is
/// the step size of round t = 0, 1, ...
using Schedule = std::function<double(double t)>;

/// What a schedule may go by.
struct Span {
    std::int64_t rounds;  // of the whole run
    double epoch = 1;     // batches that have as many samples as there are training rows
};

/// Makes a schedule. Arguments that count batches count epochs with an e behind them.
/// @param step  that the schedule begins with
/// @throws BadInput if the arguments behind the name are wrong
using MakeSchedule = Schedule (*)(const Settings&, double step, const Span& span);

/// The schedules that --schedule can name.
const std::vector<Entry<MakeSchedule>>& schedules();

/// Returns the schedule that --schedule names, with smaller steps during --warmup.
/// @throws BadInput as MakeSchedule, or if --warmup is wrong
Schedule schedule_of(const Settings& settings, double step, const Span& span);

/// The largest step size of so many rounds of a batch each. O(rounds).
double largest_step(const Schedule& schedule, std::int64_t rounds);

}  // namespace quorate
