// SPDX-License-Identifier: BSD-2-Clause
#include "code/assignments.hpp"
#include "code/collect_decoder.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

GradientCode stochastic_code(const StochasticOptions& given, const Problem& problem)
{
    const int n = problem.workers;
    const bool timed = given.deadline.fixed != never;
    if (timed && given.collect)
        throw Refusal("collect", ", but a round ends at its --deadline: leave out one of the two");
    if (!timed && given.straggling)
        throw Refusal("straggling",
                      ", but only rounds with a --deadline of seconds use it: leave it out");
    return collecting(
        stochastic_assignment(n, given.degree, problem.seed),
        timed ? n : quorum(given.deadline, given.collect, n),
        timed ? plain_sum_of_probability(given.straggling.value_or(0)) : plain_sum(n));
}

}  // namespace

SchemeEntry<StochasticOptions> StochasticOptions::entry()
{
    return {.name = "stochastic",
            .text =
                "stochastic gradient coding: unbiased without decoding; each partition is on D "
                "random workers, and what comes in time is added up",
            .source = "Bitar, Wootters, El Rouayheb, arXiv 1905.05383",
            .options = options<StochasticOptions>(
                {{&StochasticOptions::straggling,
                  {"straggling", "P", "",
                   "probability that a worker misses the deadline, by which the sum is "
                   "scaled; default: 0"},
                  {.highest = 0.999}}}),
            .make = coded(stochastic_code),
            .properties = {.blocked = until_collected<StochasticOptions>}};
}

}  // namespace quorate
