// SPDX-License-Identifier: BSD-2-Clause
// The memory of contributions that outlive steps (Needs::kept), known before the run.
#pragma once

#include <cstdint>

#include "scheme/scheme.hpp"

namespace quorate {

struct Training;

/// Bytes of so many contributions at most. Without a data set each is as long as all parameters.
/// @param parameters      of the model
/// @param rows            of the training split that a worker stores at most
/// @param entries_per_row of the data; 0: contributions hold every parameter
double bytes_of_kept(std::int64_t contributions, std::int64_t parameters, std::int64_t rows,
                     double entries_per_row);

/// Bytes of the sums that a table of so many slots keeps (SumTable).
double bytes_of_sums(std::int64_t slots, std::int64_t parameters);

/// Bytes of the contributions that a run keeps at a time, of their sums and of the points that they
/// hold, at most. A dry run, which keeps none, says those of the run that it stands for.
double bytes_of_kept(const Training& training);

/// Refuses a run whose kept contributions do not fit into what memory this process may take.
/// Coordinator and simulations only; not if nodes add up, because then each holds its own.
/// So --aggregate auto must have been resolved.
/// @throws BadInput with the bytes
void check_kept(const Training& training);

}  // namespace quorate
