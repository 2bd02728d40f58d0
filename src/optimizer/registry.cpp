// SPDX-License-Identifier: BSD-2-Clause
// The list of optimisers. A new one needs a file with an entry, and a line here.
#include "optimizer/optimizer.hpp"

namespace quorate {

Entry<MakeOptimizer> adam_entry();
Entry<MakeOptimizer> dual_averaging_entry();
Entry<MakeOptimizer> erasurehead_agd_entry();
Entry<MakeOptimizer> gradient_descent_entry();
Entry<MakeOptimizer> lbfgs_entry();
Entry<MakeOptimizer> momentum_entry();
Entry<MakeOptimizer> nesterov_agd_entry();
Entry<MakeOptimizer> nesterov_strongly_convex_entry();
Entry<MakeOptimizer> rmsprop_entry();

namespace {

std::vector<Entry<MakeOptimizer>>& entries()
{
    static std::vector<Entry<MakeOptimizer>> all = {
        gradient_descent_entry(),
        nesterov_agd_entry(),
        erasurehead_agd_entry(),
        nesterov_strongly_convex_entry(),
        lbfgs_entry(),
        momentum_entry(),
        rmsprop_entry(),
        adam_entry(),
        dual_averaging_entry(),
    };
    return all;
}

}  // namespace

const std::vector<Entry<MakeOptimizer>>& optimizers() { return entries(); }

void add_optimizer(Entry<MakeOptimizer> entry) { add_entry(entries(), std::move(entry)); }

}  // namespace quorate
