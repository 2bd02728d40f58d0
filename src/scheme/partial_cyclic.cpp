// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/cyclic.hpp"
#include "scheme/options.hpp"
#include "scheme/partial.hpp"

namespace quorate {

Entry<MakeScheme> partial_cyclic_entry()
{
    return {
        .name = "partial-cyclic",
        .text = "exact; as partial-frc, with a cyclic code: any N - S second messages are enough",
        .source = "Tandon et al., Gradient Coding, ICML 2017",
        .options = {stragglers_option(), coefficients_option(), own_partitions_option(),
                    deadline_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            const int d = stragglers(settings, problem.workers - 1) + 1;
            return std::make_unique<PartialScheme>(problem, own_partitions(settings, d),
                                                   chosen_cyclic_code(settings, problem),
                                                   deadline(settings));
        }};
}

}  // namespace quorate
