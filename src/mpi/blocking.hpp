// SPDX-License-Identifier: BSD-2-Clause
// Blocking send and receive, which sleep while they wait: for start-up, the end, and commands without
// rounds.
#pragma once

#include "mpi/mpi.hpp"

namespace quorate::mpi {

/// The first message to come from a rank (or MPI_ANY_SOURCE), whole.
Transfer receive_blocking(const Comm& comm, int rank, Pool& pool);

/// Until all of them are out.
void wait_until_sent(std::vector<Transfer> sends);

/// Sends and waits until it is out.
void send_blocking(const Comm& comm, int to, Tag tag, std::shared_ptr<Bytes> bytes);

}  // namespace quorate::mpi
