// SPDX-License-Identifier: BSD-2-Clause
#include "code/reed_solomon.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

SchemeEntry<ReedSolomonOptions> ReedSolomonOptions::entry()
{
    return {
        .name = "reed-solomon",
        .text =
            "exact, ends at any N - S answers, any number of partitions; complex coefficients cost "
            "twice the messages and computation: where partitions are given and k is not n",
        .source = "Halbawi et al., arXiv 1706.05436",
        .options = options<ReedSolomonOptions>(
            {{&ReedSolomonOptions::partitions,
              {"partitions", "K", "", "of the training rows; default: one a worker"},
              {.lowest = 1}}}),
        .make =
            coded<ReedSolomonOptions>([](const ReedSolomonOptions& given, const Problem& problem) {
                const int n = problem.workers, k = given.partitions.value_or(n);
                if (given.partitions) at_most("partitions", k, problem.rows);
                return reed_solomon_code(n, k, given.stragglers);
            }),
        .properties = {.blocked = until_stragglers<ReedSolomonOptions>}};
}

}  // namespace quorate
