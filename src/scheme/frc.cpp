// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/groups.hpp"

namespace quorate {

Entry<MakeScheme> frc_entry()
{
    return {
        .name = "frc",
        .arguments = "",
        .text =
            "fractional repetition: exact, ends when every group of S + 1 replicas is heard once; "
            "the fastest exact code under random delays",
        .source = "Tandon et al., Gradient Coding, ICML 2017",
        .options = repetition_options(),
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            return std::make_unique<GroupScheme>(problem, repetition(settings, problem),
                                                 problem.workers, true);
        }};
}

}  // namespace quorate
