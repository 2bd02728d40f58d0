// SPDX-License-Identifier: BSD-2-Clause
// Gradient coding whose coefficients are told late. Workers compute the chunks of their lists and
// only say what they are done with. When that suffices, or time is up, each is asked for one
// combination of the chunks that it holds.
#pragma once

#include <memory>

#include "scheme/rounds/chunk_lists.hpp"

namespace quorate {

/// Makes the scheme. A round can end when each chunk has been computed by `pieces` workers;
/// messages are that much shorter than gradients.
/// @param pieces   l, 1 to the number of workers that have a chunk
/// @param limit    seconds after which what is done is collected; never: a round is exact
/// @param rescale  whether what has come stands for what has not
std::unique_ptr<Scheme> late_messages(const Problem& problem, ChunkLists lists, int pieces,
                                      Seconds limit, bool rescale);

}  // namespace quorate
