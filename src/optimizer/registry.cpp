// SPDX-License-Identifier: BSD-2-Clause
// The list of optimisers. A new one needs a file with an entry, and its struct of options here.
#include "optimizer/optimizers.hpp"

namespace quorate {

namespace {

std::vector<Entry<MakeOptimizer>>& entries()
{
    static auto all =
        entries_of<MakeOptimizer, GradientDescentOptions, NesterovAgdOptions, ErasureHeadAgdOptions,
                   NesterovStronglyConvexOptions, LbfgsOptions, MomentumOptions, RmsPropOptions,
                   AdamOptions, AdamWOptions, AmsgradOptions, DualAveragingOptions>();
    return all;
}

}  // namespace

const std::vector<Entry<MakeOptimizer>>& optimizers() { return entries(); }

void add_optimizer(Entry<MakeOptimizer> entry) { add_entry(entries(), std::move(entry)); }

}  // namespace quorate
