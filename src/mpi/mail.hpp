// SPDX-License-Identifier: BSD-2-Clause
// Messages one at a time, with sleep while they are waited for: start-up, the end, and commands that
// have no rounds.
#pragma once

#include "mpi/mpi.hpp"

namespace quorate::mpi {

/// The first message to come from a rank (or MPI_ANY_SOURCE), whole.
Transfer wait_for(const Comm& comm, int rank, Pool& pool);

/// Until all of them are out.
void wait_until_sent(std::vector<Transfer> sends);

/// Sends and waits until it is out.
void post(const Comm& comm, int to, Tag tag, std::shared_ptr<Bytes> bytes);

}  // namespace quorate::mpi
