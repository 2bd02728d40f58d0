// SPDX-License-Identifier: BSD-2-Clause
// What the rank that leads a run and those that follow have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/group.hpp"
#include "commands/rank_run.hpp"
#include "run/resumption.hpp"
#include "run/training.hpp"

namespace quorate {

/// What has become of an attempt to end a run: how this rank ends, or with whom the run goes back.
struct Attempt {
    End end;
    std::optional<GoBack::Loss> loss = {};
    std::vector<int> left = {};  // ranks, ascending
    std::string elsewhere = {};  // how the run goes on if it does not in this job
};

/// Whether a rank of its own, the last one, scores models while the run goes on. @throws BadInput
/// for another word
bool scores_live(const Settings& settings);

/// Whether ranks of the coordinator's host read points and write contributions in shared memory.
/// training_of_ranks() checks the word.
bool shares_memory(const Settings& settings);

/// Builds the training of a world of so many ranks, the same on all ranks. Local.
/// @param began_with  workers that the run began with, if it is to go on
/// @throws BadInput if there are too few ranks, or as build_training()
Training training_of_ranks(const Settings& settings, int ranks,
                           const std::optional<int>& began_with);

/// Whether another rank takes the coordinator's place if it dies.
bool may_be_succeeded(const Settings& settings);

/// Leads a run until it ends, with fewer ranks after each loss.
/// @param given  the options as all ranks got them
/// @param loss   why it goes back to its newest checkpoint; none: it begins as `settings` say
End lead_on(Group& group, const Settings& given, Settings settings, const Coordinator& coordinator,
            std::optional<GoBack::Loss> loss);

}  // namespace quorate
