// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>

namespace quorate {

/// What the launcher's environment says of this process, before MPI does.
struct Launch {
    std::optional<int> rank, size;  // none: no launcher
};
Launch launch_environment();

/// Does what may find bad input on every rank of the world, and whether it was good on all of them. If
/// not, one rank has said why. Collective; other errors pass.
bool all_agree(const std::function<void()>& check);

/// @throws BadInput if the world has fewer than 2 ranks, or another number than the launcher's
///         environment says: the remedy names the launcher of this build's MPI
void check_world(int size);

}  // namespace quorate
