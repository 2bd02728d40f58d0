// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/coded.hpp"
#include "scheme/options.hpp"

namespace quorate {

Entry<MakeScheme> agc_entry()
{
    return {
        .name = "agc",
        .arguments = "",
        .text =
            "approximate gradient coding: fractional repetition that ends after M answers even if "
            "groups are missing; for random delays where a small error is acceptable",
        .source = "Wang, Charles, Papailiopoulos, ErasureHead, arXiv 1901.09671",
        .options =
            {stragglers_option(),
             collect_option(),
             deadline_option(),
             {"rescale", "coverage|none", "coverage",
              "scale the sum by groups / groups received (unbiased for random stragglers), or "
              "not (as the public ErasureHead code)"}},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            const int n = problem.workers;
            const bool rescale = settings.one_of("rescale", {"coverage", "none"}) == "coverage";
            return std::make_unique<CodedScheme>(
                problem,
                approximate_repetition(n, stragglers(settings, n - 1) + 1, collect(settings, n),
                                       rescale),
                deadline(settings));
        }};
}

}  // namespace quorate
