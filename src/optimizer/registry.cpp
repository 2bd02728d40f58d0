// SPDX-License-Identifier: BSD-2-Clause
// To add an optimiser: one file with an entry, and one line here.
#include "optimizer/optimizer.hpp"

namespace quorate {

Entry<MakeOptimizer> gradient_descent_entry();
Entry<MakeOptimizer> erasurehead_agd_entry();
Entry<MakeOptimizer> nesterov_agd_entry();

const std::vector<Entry<MakeOptimizer>>& optimizers()
{
    static const std::vector<Entry<MakeOptimizer>> all = {
        gradient_descent_entry(),
        nesterov_agd_entry(),
        erasurehead_agd_entry(),
    };
    return all;
}

}  // namespace quorate
