// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>

namespace quorate {

/// What the launcher's environment says of this process, before MPI does.
struct Launch {
    std::optional<int> rank, size;  // none: no launcher
};
Launch launch_environment();

/// The socket on which Hydra hears this rank; -1 if another launcher has started it.
int hydra_socket();

/// Tells Hydra that this rank ends without MPI_Finalize. Hydra takes a rank that ends before PMI's finalize for a
/// failed one: so it is told in PMI-1's words, and has answered before this returns, or a second is
/// over. Calls only what a signal handler may. @param socket  of hydra_socket(); -1: nothing is done
void tell_hydra_of_end(int socket);

/// Does what may find bad input on every rank of the world, and whether it was good on all of them. If
/// not, one rank has said why. Collective; other errors pass.
bool all_agree(const std::function<void()>& check);

/// @throws BadInput if the world has fewer than 2 ranks, or another number than the launcher's
///         environment says: the remedy names the launcher of this build's MPI
void check_world(int size);

/// @throws BadInput if a launcher has started several of this process, whose command is for one
void refuse_launcher(const std::string& command);

}  // namespace quorate
