// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "code/assignments.hpp"
#include "scheme/approximate.hpp"
#include "scheme/options.hpp"

namespace quorate {

namespace {

std::unique_ptr<Scheme> make(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const auto groups = settings.on("groups") ? static_cast<int>(settings.integer("groups", 1, n))
                                              : std::max(1, n / 2);
    const double inside = settings.real("inside", 0, 1), outside = settings.real("outside", 0, 1);
    if (inside == 0 && outside == 0)
        settings.refuse("inside", ", and so is --outside: nobody would hold anything");
    if (inside == 0 && groups == 1)
        settings.refuse("inside", ", but all workers are in one block: use --groups 2 or more");
    return approximate_scheme(settings, problem,
                              block_assignment(n, groups, inside, outside, problem.seed));
}

}  // namespace

Entry<MakeScheme> block_entry()
{
    return {
        .name = "block",
        .text =
            "approximate; between fractional repetition (inside 1, outside 0) and bernoulli: hides "
            "the groups from an adversary",
        .source = "Charles, Papailiopoulos, arXiv 1805.10378",
        .options = approximate_options(
            {{"groups", "G", "", "blocks of workers and partitions; default: half of the workers"},
             {"inside", "P", "0.9", "probability to hold a partition of the own block"},
             {"outside", "P", "0.02", "probability to hold another one"}}),
        .make = make,
        .properties = {.blocked = until_collected}};
}

}  // namespace quorate
