// SPDX-License-Identifier: BSD-2-Clause
// Which chunks each worker computes, and in which order: of schemes in which what slow workers have
// done counts.
#pragma once

#include <functional>
#include <vector>

#include "scheme/placement.hpp"

namespace quorate {

using ChunkList = std::vector<int>;  // chunks of one worker, in the order of computation

/// The lists of all workers.
struct ChunkLists {
    int chunks;                        // k
    std::vector<ChunkList> chunks_of;  // by worker
};

/// Returns the lists of a code with as many partitions as workers, each of which holds the
/// partition of its own number.
/// @param pieces  chunks of a partition
/// @param rotate  a worker begins with the partition of its own number; so with d copies each
///                stands once at each of the d places, and the first copies of all are done first.
///                It computes every second partition from its last chunk on, so that two workers at
///                one partition meet
ChunkLists lists_of(const Encoding& code, int pieces, bool rotate);

/// Returns the plain sum of the first chunks of a list as a row of B.
Row first_chunks(const ChunkList& list, std::int64_t count);

using MakePlan = std::function<Plan(const ChunkList&)>;
/// Makes the plans; workers with equal lists share one.
Plans plans_of(const ChunkLists& lists, const MakePlan& make);
/// Returns what workers store and compute, with these plans.
Layout layout_of(const ChunkLists& lists, const Problem& problem, const MakePlan& make);

/// Returns a plan with a part for each chunk, which is sent when it is ready.
/// @param held  whether the worker holds the values
Plan in_parts(const ChunkList& list, bool held);

}  // namespace quorate
