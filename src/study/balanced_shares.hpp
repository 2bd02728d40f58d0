// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "base/settings.hpp"

namespace quorate {

/// Returns the shares of rows with which all workers take as long for their partition, as --shares
/// takes them; empty if that is about the same number of rows for all, or rows take no time.
/// Workers' usual delays and times of a row come from a simulation of uncoded with the first seed:
/// bursts and chance make no worker slow. Local. O(workers x rounds): 100 rounds, or a million
/// tasks.
/// @param settings  with workers, delay, slowdown, row-time and seed
/// @param rows      of the training split
/// @throws BadInput if one of these is wrong
std::string balanced_shares(const Settings& settings, std::int64_t rows);

}  // namespace quorate
