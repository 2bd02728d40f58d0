// SPDX-License-Identifier: BSD-2-Clause
// Rounds of whole gradients without redundancy, of which a rule makes the estimate.
#include <fmt/format.h>

#include "scheme/options.hpp"
#include "scheme/rounds/schemes.hpp"
#include "scheme/rounds/synchronous.hpp"

namespace quorate {

namespace {

// Worker i holds partition i. A round ends at the r-th answer. The rule gets the mean gradient of
// each partition, whatever its size.
class Robust final : public SynchronousScheme {
public:
    /// @param collect  r
    Robust(const Problem& problem, int collect, const RobustOptions& given)
        : SynchronousScheme(OwnPartitions(problem)), rows_(problem.rows), collect_(collect)
    {
        auto& needs = layout().needs;
        needs.answers = collect;
        needs.aggregator = robust_rule(given.aggregator.rule, given.pre_aggregate);
        needs.tolerated = given.tolerate;
    }

protected:
    void begin(Version) override { terms_.clear(); }
    std::optional<Step> receive(const Contribution& contribution) override
    {
        // A sum stands for its block's share of the round's samples, also where that was rounded.
        const auto block = layout().needs.blocks[static_cast<std::size_t>(contribution.worker)];
        const double weight = static_cast<double>(rows_) / static_cast<double>(block.count);
        terms_.push_back({contribution.id, weight});
        if (std::ssize(terms_) < collect_) return std::nullopt;
        // The mean of these answers, and its |B'a - 1|^2.
        const auto r = static_cast<double>(collect_);
        double error = static_cast<double>(std::ssize(layout().needs.blocks) - collect_);
        for (const auto& term : terms_) error += (term.weight / r - 1) * (term.weight / r - 1);
        return Step{.terms = terms_, .divisor = r * static_cast<double>(samples()), .error = error};
    }

private:
    std::int64_t rows_;
    int collect_;
    std::vector<Term> terms_;
};

std::unique_ptr<Scheme> make_robust(const RobustOptions& given, const Problem& problem)
{
    const int r = given.collect ? answers(given.collect, problem.workers) : problem.workers;
    auto made = std::make_unique<Robust>(problem, r, given);
    const auto rule = made->needs().aggregator;
    const int least = rule->least(given.tolerate);
    if (r >= least) return made;
    int most = given.tolerate;
    while (most > 0 && rule->least(most) > r) --most;
    throw Refusal(
        "tolerate",
        fmt::format(
            ", for which --aggregator {} needs {} answers a round{}, and there are {}: {}",
            given.aggregator.words, least,
            given.pre_aggregate.kind == PreAggregation::buckets ? " with these buckets" : "", r,
            rule->least(most) <= r ? fmt::format("use at most {}", most)
                                   : fmt::format("use {} workers or more", least)));
}

}  // namespace

SchemeEntry<RobustOptions> RobustOptions::entry()
{
    return {
        .name = "robust",
        .text =
            "no redundancy: a rule such as the median makes the estimate of all answers, or of "
            "the first M, of which L may be anything; for workers that are not trusted, where "
            "redundant computing costs too much",
        .source =
            "Blanchard et al., NeurIPS 2017; Yin et al., ICML 2018; Allouah et al., "
            "AISTATS 2023",
        .options = options<RobustOptions>({
            {&RobustOptions::aggregator,
             {"aggregator", "NAME", "median",
              "the rule that makes the estimate of the answers; F is --tolerate. See quorate "
              "list aggregators"}},
            {&RobustOptions::pre_aggregate,
             {"pre-aggregate", "none|nnm|bucketing:S", "none",
              "what the rule gets. nnm: the mean of the n - F answers nearest to each; "
              "bucketing: means of S answers, in a random order"}},
        }),
        .make = make_robust,
        .properties = {.blocked = [](const RobustOptions& given,
                                     int n) { return until_answers(n, given.collect.value_or(n)); },
                       .example = {{"tolerate", "1"}, {"byzantine", "alie:2"}}}};
}

}  // namespace quorate
