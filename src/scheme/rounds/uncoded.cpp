// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"
#include "scheme/rounds/schemes.hpp"

namespace quorate {

SchemeEntry<UncodedOptions> UncodedOptions::entry()
{
    return {.name = "uncoded",
            .text = "wait for all workers; exact, tolerates no straggler; the baseline",
            .source = "folklore",
            .options = options<UncodedOptions>(),
            // Worker i holds partition i: groups of one worker.
            .make =
                [](const UncodedOptions& given, const Problem& problem) {
                    return std::make_unique<CodedScheme>(problem,
                                                         fractional_repetition(problem.workers, 1),
                                                         RoundLimit{}, given.shares);
                },
            .properties = {.candidates = [](int, bool) -> std::vector<Choice> { return {{}}; },
                           .blocked =
                               [](const UncodedOptions& given, int n) {
                                   return given.shares.empty() ? until_answers(n, n) : Blocked();
                               }}};
}

}  // namespace quorate
