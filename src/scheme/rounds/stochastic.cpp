// SPDX-License-Identifier: BSD-2-Clause
#include "code/assignments.hpp"
#include "code/collect_decoder.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

std::unique_ptr<Scheme> make_stochastic(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    auto encoding = stochastic_assignment(n, degree(settings, n), problem.seed);
    auto limit = round_limit(settings, n);
    if (limit.fixed != never && settings.on("collect"))
        settings.refuse("collect",
                        ", but a round ends at its --deadline: leave out one of the two");
    if (limit.fixed == never && settings.on("straggling"))
        settings.refuse("straggling",
                        ", but only rounds with a --deadline of seconds use it: leave it out");
    auto weigh = plain_sum(n);
    int answers = n;
    if (limit.fixed == never)
        answers = limit.adaptive ? n : collect(settings, n);
    else
        weigh = plain_sum_of_probability(
            settings.on("straggling") ? settings.real("straggling", 0, 0.999) : 0);
    auto decoder = std::make_unique<CollectDecoder>(encoding, answers, std::move(weigh));
    return std::make_unique<CodedScheme>(
        problem, GradientCode{std::move(encoding), std::move(decoder)}, std::move(limit));
}

}  // namespace

Entry<MakeScheme> stochastic_entry()
{
    return {.name = "stochastic",
            .text =
                "stochastic gradient coding: unbiased without decoding; each partition is on D "
                "random workers, and what comes in time is added up",
            .source = "Bitar, Wootters, El Rouayheb, arXiv 1905.05383",
            .options = {degree_option(),
                        collect_option(),
                        deadline_option(),
                        {"straggling", "P", "",
                         "probability that a worker misses the deadline, by which the sum is "
                         "scaled; default: 0"}},
            .make = make_stochastic,
            .properties = {.blocked = until_collected}};
}

}  // namespace quorate
