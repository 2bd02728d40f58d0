// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"
#include "scheme/rounds/schemes.hpp"

namespace quorate {

SchemeEntry<AgcOptions> AgcOptions::entry()
{
    return {
        .name = "agc",
        .text =
            "approximate gradient coding: fractional repetition that ends after M answers even if "
            "groups are missing; for random delays where a small error is acceptable",
        .source = "Wang, Charles, Papailiopoulos, ErasureHead, arXiv 1901.09671",
        .options = options<AgcOptions>(),
        .make =
            [](const AgcOptions& given, const Problem& problem) {
                const int n = problem.workers;
                return std::make_unique<CodedScheme>(
                    problem,
                    approximate_repetition(n, given.stragglers + 1,
                                           quorum(given.deadline, given.collect, n),
                                           given.rescale == Rescale::coverage),
                    given.deadline);
            },
        .properties = {.candidates =
                           [](int n, bool) {
                               std::vector<Choice> all;
                               for (const int copies : copies_tried(n)) {
                                   const auto stragglers = std::to_string(copies - 1);
                                   for (const int collect : {n / 2, 3 * n / 4})
                                       all.push_back({{"stragglers", stragglers},
                                                      {"collect", std::to_string(collect)}});
                                   all.push_back({{"stragglers", stragglers},
                                                  {"deadline", adaptive_deadline_tried(n)}});
                               }
                               return all;
                           },
                       .blocked =
                           [](const AgcOptions& given, int n) {
                               return given.deadline.given()
                                          ? Blocked{}
                                          : until_groups_or_answers(n, given.stragglers + 1,
                                                                    answers(given.collect, n));
                           }}};
}

}  // namespace quorate
