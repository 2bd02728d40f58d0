// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "fleet/replay_fleet.hpp"
#include "run/resumption.hpp"
#include "run/training.hpp"

namespace quorate {

/// The fleet with which a resumed run over MPI goes through what was done before. Only
/// contributions that are still in use are computed again. That needs the rows of all workers; if
/// there are none, no rows are read.
struct History {
    /// @param training, resumed  must outlive this object
    /// @param share     of the parameters that the engine has; none: all
    /// @param computes  whether to compute contributions at all
    History(const Training& training, const Resumption& resumed,
            const std::optional<ShareRange>& share, bool computes);

    Computing computing;
    Recipes recipes;
    ReplayFleet fleet;
};

/// Gives optimisers the memory that a checkpoint holds.
/// @param share  of the parameters that they have; none: all
void restore(const Optimizers& optimizers, const Checkpoint& checkpoint,
             const std::optional<ShareRange>& share = {});

}  // namespace quorate
