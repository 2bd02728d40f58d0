// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "code/assignments.hpp"
#include "scheme/approximate.hpp"
#include "scheme/options.hpp"

namespace quorate {

namespace {

std::unique_ptr<Scheme> make(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    int m = 1;
    while ((m + 1) * (m + 1) <= n) ++m;
    if (m < 2 || m * m != n)
        settings.refuse("scheme",
                        fmt::format(", but {} workers are no square of at least 4: use {} "
                                    "or {}",
                                    n, std::max(4, m * m), std::max(9, (m + 1) * (m + 1))));
    return approximate_scheme(settings, problem, margulis_assignment(m));
}

}  // namespace

Entry<MakeScheme> margulis_entry()
{
    return {.name = "margulis",
            .text =
                "approximate; an expander graph of degree 8 for M x M workers: a bound for every "
                "set of stragglers without randomness",
            .source = "Raviv et al., arXiv 1707.03858; Margulis, 1973",
            .options = approximate_options({}),
            .make = make,
            .properties = {.blocked = until_collected, .example = {{"workers", "4"}}}};
}

}  // namespace quorate
