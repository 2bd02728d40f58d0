// SPDX-License-Identifier: BSD-2-Clause
// Blocking sends and receives that sleep while they wait (Backoff). For start-up, for the end, and
// for commands without rounds; during a run the coordinator and the workers never block in a
// message.
#pragma once

#include "mpi/mpi.hpp"

namespace quorate::mpi {

/// Waits for the next message from a rank and receives it whole. Local; waits without a time limit.
/// @param rank  MPI_ANY_SOURCE: from any rank
/// @throws Error if MPI fails
Transfer receive_blocking(const Comm& comm, int rank, Pool& pool);

/// Waits until all these sends have completed. Local. @throws Error if MPI fails
void wait_until_sent(std::vector<Transfer> sends);

/// Sends a message and waits until its buffer is free again. Local. The receiver need not have
/// taken the message by then if MPI buffers it.
/// @throws Error if MPI fails
/// @throws Failure if the message has more than 2^31 - 1 bytes
void send_blocking(const Comm& comm, int to, Tag tag, std::shared_ptr<Bytes> bytes);

}  // namespace quorate::mpi
