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

/// Whether all workers of a run that goes on whose contributions are added up together are on one
/// host, and on the coordinator's host those of one group only, as owners of shares need it. Local.
/// @param ranks   of each worker; -1: it is gone
/// @param groups  of each worker that the run has had  @param hosts  of the ranks 1, 2, ...
bool groups_are_together(const std::vector<int>& ranks, const std::vector<int>& groups,
                         const std::vector<std::string>& hosts, const std::string& coordinator);

/// Decides which rank is which worker of a run that goes on, so that groups_are_together(), as far
/// as there are groups for all hosts. Ranks that are left become new workers. Local.
/// @param names  of the groups' hosts, by group, which get these groups again
/// @param first  workers that are to be there rather than others
/// @return for each worker its rank; -1: it is gone
std::vector<int> place_groups(const std::vector<std::string>& hosts, const std::string& coordinator,
                              const std::vector<int>& groups, const std::vector<std::string>& names,
                              const std::vector<int>& first);

}  // namespace quorate
