// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

Entry<MakeScheme> uncoded_entry()
{
    return {
        .name = "uncoded",
        .text = "wait for all workers; exact, tolerates no straggler; the baseline",
        .source = "folklore",
        .options = {shares_option()},
        // Worker i holds partition i: groups of one worker.
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            return std::make_unique<CodedScheme>(problem, fractional_repetition(problem.workers, 1),
                                                 RoundLimit{}, shares(settings, problem.workers));
        },
        .properties = {.candidates = [](int, bool) -> std::vector<Choice> { return {{}}; },
                       .blocked =
                           [](const Settings& settings, int n) {
                               return settings.on("shares") ? Blocked() : until_answers(n, n);
                           }}};
}

}  // namespace quorate
