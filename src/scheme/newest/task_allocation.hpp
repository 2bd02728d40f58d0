// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quorate {

/// What is known of a worker's tasks.
struct TaskTimes {
    double mean = 0;         // seconds of a task
    std::int64_t tasks = 0;  // that the mean is of
};

/// Returns how many of `tasks` equal tasks each worker is to do so that max_i a_i s_i is least: one
/// task after the other to a worker with the least (a_i + 1) s_i, of equal ones the first. That is
/// optimal. O((n + tasks) log n).
/// @param seconds  s_i, of a task of each worker, above 0; at least one
std::vector<int> least_longest(int tasks, std::span<const double> seconds);

/// Returns the tasks of each worker in a round: least_longest() for the lower confidence bounds of
/// their means, mean (1 - c (sqrt(x) + x)) with x = ln(2 k^2) / tasks done. Workers whose bound is
/// not above 0 come first: if there are any, they get all tasks, evenly, those with the fewest
/// tasks done first. Source: Maranjyan et al., ATA, arXiv 2502.00775, whose code has c = 8 e.
/// @param exploration  c, at least 0  @param round  k, from 1
std::vector<int> allocation(int tasks, std::span<const TaskTimes> times, double exploration,
                            std::int64_t round);

}  // namespace quorate
