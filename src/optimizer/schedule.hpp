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

/// Makes a schedule.
/// @param step    the first step size  @param rounds  of the whole run
/// @throws BadInput if the arguments behind the name are wrong
using MakeSchedule = Schedule (*)(const Settings&, double step, std::int64_t rounds);

/// The schedules that --schedule can name.
const std::vector<Entry<MakeSchedule>>& schedules();

}  // namespace quorate
