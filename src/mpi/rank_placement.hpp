// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace quorate {

/// Which rank is which worker. Ranks of one host fail and stall together, and codes lose most by the
/// loss of neighbours: the runs of worker numbers that are a group of fractional repetition, or the
/// worst pattern of a cyclic code. So the ranks of each host are spread evenly over all workers. On
/// one host, worker i is the i-th rank. O(n hosts).
/// @param hosts  of the ranks 1, 2, ..., n
/// @return the rank of each worker
std::vector<int> place_ranks(const std::vector<std::string>& hosts);

}  // namespace quorate
