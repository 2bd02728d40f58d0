// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"
#include "scheme/rounds/schemes.hpp"

namespace quorate {

SchemeEntry<FrcOptions> FrcOptions::entry()
{
    return {
        .name = "frc",
        .text =
            "fractional repetition: exact, ends when every group of S + 1 replicas has answered "
            "once; under random delays the fastest exact code of whole answers",
        .source = "Tandon et al., Gradient Coding, ICML 2017",
        .options = options<FrcOptions>(),
        .make =
            [](const FrcOptions& given, const Problem& problem) {
                return std::make_unique<CodedScheme>(
                    problem, fractional_repetition(problem.workers, given.stragglers + 1));
            },
        .properties = {.candidates =
                           [](int n, bool) {
                               std::vector<Choice> all;
                               for (const int copies : copies_tried(n))
                                   all.push_back({{"stragglers", std::to_string(copies - 1)}});
                               return all;
                           },
                       .blocked = [](const FrcOptions& given,
                                     int n) { return until_groups(n, given.stragglers + 1); }}};
}

}  // namespace quorate
