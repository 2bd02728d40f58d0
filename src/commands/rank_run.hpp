// SPDX-License-Identifier: BSD-2-Clause
// One run whose workers are ranks, whatever carries their messages: the parts of the coordinator
// and of all others.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <optional>

#include "base/settings.hpp"
#include "run/run.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// What the coordinators of different commands do differently.
struct Coordinator {
    /// Called first. @throws BadInput if there cannot be a run
    std::function<void()> check;
    /// Checks the files of the run. @return what it goes on from, if anything  @throws BadInput
    std::function<std::optional<Resumption>(const Settings&, const Training&, const NextState&)>
        prepare;
    /// @return the exit status
    /// @throws GoBack  if the ranks that are left are to go on from the newest checkpoint
    std::function<int(const Settings&, const Run&)> run;
    /// Called with what went wrong, before the other ranks are told.
    std::function<void(const std::exception&)> failed;
    /// Returns the options of the run, as prepare() has completed them. Called after GoBack.
    std::function<Settings()> completed = {};
};

/// How a rank ends.
struct End {
    int status;
    /// Whether all ranks end together, as in MPI_Finalize: it would wait for ever for dead ones.
    bool finalize = true;
    bool lost = false;  // whether there are ranks for which the launcher may wait for ever
};

/// The coordinator's part of a run, on rank 0: checks everything, tells the other ranks, and
/// trains. Returns when all other ranks have said farewell or are dead. If the run loses what it
/// cannot go on without, those that are left go on from its newest checkpoint.
/// @param settings  with all of run_options()
End lead(const Settings& settings, transport::Endpoint& endpoint, const Coordinator& coordinator);

/// The part of every other rank: says hello, and works until the coordinator ends the run. If the
/// coordinator dies in a resilient run with checkpoints, the ranks that are left agree on one of
/// them, which leads the run from its newest checkpoint on.
/// @param leave      becomes true when a signal asks the rank to leave the run
/// @param successor  what this rank does as the coordinator; null: the run ends with that one
/// @throws BadInput, Failure  for its own errors  @throws transport::Unreachable if the coordinator
///         has ended before the run began, or cannot be reached
End follow(const Settings& settings, transport::Endpoint& endpoint, const std::atomic<bool>& leave,
           const Coordinator* successor = nullptr);

}  // namespace quorate
