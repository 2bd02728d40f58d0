// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

Entry<MakeScheme> agc_entry()
{
    return {
        .name = "agc",
        .text =
            "approximate gradient coding: fractional repetition that ends after M answers even if "
            "groups are missing; for random delays where a small error is acceptable",
        .source = "Wang, Charles, Papailiopoulos, ErasureHead, arXiv 1901.09671",
        .options = {stragglers_option(), collect_option(), deadline_option(), rescale_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            const int n = problem.workers;
            auto limit = round_limit(settings, n);
            return std::make_unique<CodedScheme>(
                problem,
                approximate_repetition(n, stragglers(settings, n - 1) + 1,
                                       limit.adaptive ? n : collect(settings, n),
                                       rescale(settings)),
                std::move(limit));
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
                           [](const Settings& settings, int n) {
                               return settings.on("deadline")
                                          ? Blocked{}
                                          : until_groups_or_answers(n,
                                                                    stragglers(settings, n - 1) + 1,
                                                                    collect(settings, n));
                           }}};
}

}  // namespace quorate
