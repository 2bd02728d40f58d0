// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace quorate {

/// Decides which rank is which worker. Ranks of one host fail and stall together. Codes suffer most
/// when neighbouring workers are lost: consecutive workers are a group of fractional repetition and
/// the worst pattern of a cyclic code. So the ranks of each host are spread evenly over the worker
/// numbers. On one host, worker i is rank i + 1. Local. O(n x number of hosts).
/// @param hosts  host names of the ranks 1, 2, ..., n
/// @return for each worker, its rank
std::vector<int> place_ranks(const std::vector<std::string>& hosts);

}  // namespace quorate
