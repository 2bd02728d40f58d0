// SPDX-License-Identifier: BSD-2-Clause
// The memory that a run takes, known before it has read a row: what ranks take at least, and what
// contributions that outlive steps (Needs::kept) take at most.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/numbers.hpp"

namespace quorate {

struct Training;

/// The memory of the host of a rank.
struct RankMemory {
    std::string host;
    std::int64_t free;  // bytes that the rank may take
};

/// Refuses a run for which a host has too little memory, and says what the ranks take if that is
/// more than a tenth of what is free on some host. Coordinator only.
/// @param ranks  all of them, the coordinator first
/// @throws BadInput with the host and the bytes
void check_memory(const Training& training, const std::vector<RankMemory>& ranks);

/// The same for a process that simulates all ranks. @throws BadInput with the bytes
void check_memory_of_simulation(const Training& training);

/// Vectors of all parameters that the owner of a share holds with the smallest optimiser, beside
/// what its worker does. @param shares  of the parameters
double vectors_of_owner(std::int64_t shares);

/// Bytes of so many contributions at most. Without a data set each is as long as all parameters.
/// @param parameters      of the model
/// @param rows            of the training split that a worker stores at most
/// @param entries_per_row of the data; 0: contributions hold every parameter
double bytes_of_kept(std::int64_t contributions, std::int64_t parameters, std::int64_t rows,
                     double entries_per_row, Precision precision = Precision::binary64);

/// Bytes of the sums that a table of so many slots keeps (SumTable).
double bytes_of_sums(std::int64_t slots, std::int64_t parameters,
                     Precision precision = Precision::binary64);

/// Bytes of the contributions that a run keeps at a time, of their sums and of the points that they
/// hold, at most. A dry run, which keeps none, says those of the run that it stands for.
double bytes_of_kept(const Training& training);

/// Refuses a run whose kept contributions do not fit into what memory this process may take.
/// Coordinator and simulations only; not if nodes add up, because then each holds its own.
/// So --aggregate auto must have been resolved.
/// @throws BadInput with the bytes
void check_kept(const Training& training);

}  // namespace quorate
