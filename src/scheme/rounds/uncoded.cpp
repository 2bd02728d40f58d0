// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

SchemeEntry<UncodedOptions> UncodedOptions::entry()
{
    return {.name = "uncoded",
            .text = "wait for all workers; exact, tolerates no straggler; the baseline",
            .source = "folklore",
            .options = options<UncodedOptions>(),
            // Worker i holds partition i: groups of one worker.
            .make = coded<UncodedOptions>([](const UncodedOptions&, const Problem& problem) {
                return fractional_repetition(problem.workers, 1);
            }),
            .properties = {.candidates = defaults_tried,
                           .blocked = [](const UncodedOptions& given, int n) {
                               return given.shares.empty() ? until_answers(n, n) : Blocked();
                           }}};
}

}  // namespace quorate
