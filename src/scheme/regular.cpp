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
                              regular_assignment(n, degree(settings, n), problem.seed));
}

}  // namespace

Entry<MakeScheme> regular_entry()
{
    return {.name = "regular",
            .text =
                "approximate; random, D partitions a worker and D workers a partition: the error "
                "is bounded for every set of stragglers",
            .source = "Raviv et al., arXiv 1707.03858",
            .options = approximate_options({degree_option()}),
            .make = make,
            .properties = {.blocked = until_collected}};
}

}  // namespace quorate
