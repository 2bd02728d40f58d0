// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

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
        .make = coded<FrcOptions>([](const FrcOptions& given, const Problem& problem) {
            return fractional_repetition(problem.workers, given.stragglers + 1);
        }),
        .properties = {.candidates = copies_tried, .blocked = [](const FrcOptions& given, int n) {
                           return until_groups(n, given.stragglers + 1);
                       }}};
}

}  // namespace quorate
