// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/partial.hpp"

namespace quorate {

Entry<MakeScheme> partial_frc_entry()
{
    return {
        .name = "partial-frc",
        .text =
            "exact; workers first send partitions of their own, then coded ones by fractional "
            "repetition; for stragglers that are slow but never dead",
        .source = "Tandon et al., Gradient Coding, ICML 2017",
        .options = {stragglers_option(), own_partitions_option(), deadline_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            const int n = problem.workers;
            const int d = stragglers(settings, n - 1) + 1;
            return std::make_unique<PartialScheme>(problem, own_partitions(settings, d),
                                                   fractional_repetition(n, d), deadline(settings));
        }};
}

}  // namespace quorate
