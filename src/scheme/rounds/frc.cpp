// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

Entry<MakeScheme> frc_entry()
{
    return {
        .name = "frc",
        .text =
            "fractional repetition: exact, ends when every group of S + 1 replicas has answered "
            "once; under random delays the fastest exact code of whole answers",
        .source = "Tandon et al., Gradient Coding, ICML 2017",
        .options = {stragglers_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            const int n = problem.workers;
            return std::make_unique<CodedScheme>(
                problem, fractional_repetition(n, stragglers(settings, n - 1) + 1));
        },
        .properties = {
            .candidates =
                [](int n, bool) {
                    std::vector<Choice> all;
                    for (const int copies : copies_tried(n))
                        all.push_back({{"stragglers", std::to_string(copies - 1)}});
                    return all;
                },
            .blocked = [](const Settings& settings,
                          int n) { return until_groups(n, stragglers(settings, n - 1) + 1); }}};
}

}  // namespace quorate
