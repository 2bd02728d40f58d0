// SPDX-License-Identifier: BSD-2-Clause
// A run whose ranks are threads of this process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "commands/rank_run.hpp"

namespace quorate {

/// The ranks of such a run, as they are but for tests.
struct ThreadRanks {
    /// Of each rank, the host that it is taken for; ranks of different hosts share no memory.
    /// Empty: all are on this one.
    std::vector<std::string> hosts = {};
    /// Makes what a rank uses in place of its endpoint; empty: the endpoint itself.
    std::function<std::unique_ptr<transport::Endpoint>(transport::Endpoint& behind)> around = {};
};

/// How many ranks a run of these options has: the coordinator, --workers, --standby, and one if
/// models are scored live.
/// @throws BadInput if --workers is not given, or an option asks for processes
int ranks_to_start(const Settings& settings);

/// Makes a run on threads, and returns when all have ended. A rank that fails ends the run with its
/// error.
/// @param settings  with all of run_options()
/// @throws as lead(), and what another rank has thrown
End lead_threads(const Settings& settings, const Coordinator& coordinator,
                 const ThreadRanks& ranks = {});

}  // namespace quorate
