// SPDX-License-Identifier: BSD-2-Clause
// Whether contributions are added up where the workers are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fleet/fleet.hpp"
#include "run/training.hpp"
#include "trace/reader.hpp"

namespace quorate {

/// Bytes a second at which a node adds up, where nobody knows better.
inline constexpr double usual_memory_bandwidth = 10e9;

/// How the contributions of a run are added up.
struct Aggregation {
    enum class Way { flat, node, shares };
    Way way = Way::flat;
    std::vector<int> groups = {};  // of each worker, the number of its node; none: there is one
};

/// --aggregate, for runs and simulations.
Option aggregation_option();
/// @throws BadInput if --aggregate is wrong, or not for this scheme
void check_aggregation(const Training& training);

/// Returns why the options of a run forbid that its parameters are shared out; empty: they do not.
std::string why_no_shares(const Settings& settings);

/// Whether the options of a run let --aggregate auto share its parameters out.
bool may_choose_shares(const Settings& settings);

/// Returns the ways in which a run over so many hosts can add up its contributions, as --aggregate
/// names them and whatever it says: flat, and where scheme and options allow it, node and shares.
std::vector<std::string> possible_ways(const Training& training, int hosts);

/// Decides how contributions are added up. Runs and simulations decide alike: for a usual network,
/// whatever that of a simulation is. Local. O(workers x nodes).
/// @param workers  with their hosts and supports known; the first is on the coordinator's host
Aggregation aggregation_of(const Training& training, const std::vector<WorkerInfo>& workers);

/// Returns how a run goes on: with the groups that it had, and for workers that have come since the
/// nodes that they are on.
Aggregation aggregation_to_go_on_with(const Training& training, const trace::Trace& trace,
                                      std::span<const WorkerInfo> workers);

/// Whether a run that goes on is to share its parameters out.
bool goes_on_over_shares(const Settings& settings, const trace::Trace& trace);

/// Returns where contributions are added up, in words. @param way  as --aggregate names it
std::string words_of_way(const std::string& way);

/// Says which way contributions are added up, if there was a choice.
void note_aggregation(const Training& training, const Fleet& fleet);

}  // namespace quorate
