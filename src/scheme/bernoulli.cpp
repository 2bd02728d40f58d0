// SPDX-License-Identifier: BSD-2-Clause
#include "code/assignments.hpp"
#include "scheme/approximate.hpp"
#include "scheme/options.hpp"

namespace quorate {

namespace {

std::unique_ptr<Scheme> make(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    return approximate_scheme(settings, problem,
                              bernoulli_assignment(n, degree(settings, n), problem.seed));
}

}  // namespace

Entry<MakeScheme> bernoulli_entry()
{
    return {.name = "bernoulli",
            .text =
                "approximate; each worker holds each partition with probability D / N; no "
                "structure that an adversary could use",
            .source = "Charles, Papailiopoulos, Ellenberg, arXiv 1711.06771",
            .options = approximate_options({degree_option()}),
            .make = make,
            .properties = {.blocked = until_collected}};
}

}  // namespace quorate
