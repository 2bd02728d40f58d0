// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "straggler/delay.hpp"

namespace quorate {

/// Reads recorded times of workers from CSV, plain or compressed, a row for each worker and round.
/// Columns are found by name, in any order and beside others:
///
///     worker or rank                                         any labels, numbered in their order
///     round or step, else time                               numbers, which order a worker's rows
///     seconds, response_s, compute_time or batch_time_norm   finite and at least 0
///     load (optional)                                        share of the training rows, 0 to 1
///
/// A file with round or step holds each worker in each round once. With time alone a worker's rows
/// are counted in its order (equal times as they stand), and the least count over workers is the
/// number of rounds.
///
/// Several loads are runs of their own: all times are those of the lowest one, and the slope is
/// that of the least-squares line through the loads' medians. Medians, because calls that start
/// cold or are tried again last up to 65 s: of eight recorded Lambda runs, the means of two fall
/// with the load, while medians rise in all. Runs at other loads than the lowest may lack rows.
/// Without a load column load and slope are 0, so that times are replayed as they are for any load.
///
/// Times in other units than seconds, such as batch_time_norm, make sense as slowdowns only.
/// O(rows log rows) time, 40 bytes a row. Local.
/// @throws BadInput with file and, where there is one, line and column
WorkerTimes read_worker_times(const std::string& path);

}  // namespace quorate
