// SPDX-License-Identifier: BSD-2-Clause
// Whether contributions are added up where the workers are.
#pragma once

#include <span>
#include <vector>

#include "fleet/fleet.hpp"
#include "run/training.hpp"
#include "trace/reader.hpp"

namespace quorate {

/// Bytes a second at which a node adds up, where nobody knows better.
inline constexpr double usual_memory_bandwidth = 10e9;

/// --aggregate, for runs and simulations.
Option aggregation_option();
/// @throws BadInput if --aggregate is wrong, or not for this scheme
void check_aggregation(const Training& training);

/// Decides whether contributions are added up by node. Runs and simulations decide alike: for a
/// usual network, whatever that of a simulation is. Local. O(workers x nodes).
/// @param workers  with their hosts and supports known
/// @return of each worker its group, the number of its node; empty: there is just one group
std::vector<int> groups_to_aggregate(const Training& training,
                                     const std::vector<WorkerInfo>& workers);

/// Returns the groups of a run that goes on: those that it had, and for workers that have come
/// since the nodes that they are on. Empty: there is just one group.
std::vector<int> groups_to_go_on_with(const trace::Trace& trace,
                                      std::span<const WorkerInfo> workers);

/// Says which way contributions are added up, if there was a choice.
void note_aggregation(const Training& training, const Fleet& fleet);

}  // namespace quorate
