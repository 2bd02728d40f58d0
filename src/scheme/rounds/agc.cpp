// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

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
        .make = coded<AgcOptions>([](const AgcOptions& given, const Problem& problem) {
            const int n = problem.workers;
            return approximate_repetition(n, given.stragglers + 1,
                                          quorum(given.deadline, given.collect, n),
                                          given.rescale == Rescale::coverage);
        }),
        .properties = {.candidates =
                           [](int n, bool) {
                               return crossed(copies_tried(n),
                                              {{{"collect", std::to_string(n / 2)}},
                                               {{"collect", std::to_string(3 * n / 4)}},
                                               {{"deadline", adaptive_deadline_tried(n)}}});
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
