// SPDX-License-Identifier: BSD-2-Clause
#include "code/reed_solomon.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

Entry<MakeScheme> reed_solomon_entry()
{
    return {
        .name = "reed-solomon",
        .text =
            "exact, ends at any N - S answers, any number of partitions; complex coefficients cost "
            "twice the messages and computation: where partitions are given and k is not n",
        .source = "Halbawi et al., arXiv 1706.05436",
        .options = {stragglers_option(),
                    {"partitions", "K", "", "of the training rows; default: one a worker"}},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            const int n = problem.workers;
            const auto k = settings.on("partitions")
                               ? settings.integer("partitions", 1, problem.rows)
                               : std::int64_t{n};
            return std::make_unique<CodedScheme>(
                problem, reed_solomon_code(n, static_cast<int>(k), stragglers(settings, n - 1)));
        },
        .properties = {.blocked = [](const Settings& settings, int n) {
            return until_answers(n, n - stragglers(settings, n - 1));
        }}};
}

}  // namespace quorate
