// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/random.hpp"
#include "base/text.hpp"
#include "code/collect_decoder.hpp"
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"
#include "scheme/rounds/schemes.hpp"

namespace quorate {

namespace {

// Worker i holds partition i, or all partitions if they are reshuffled. A round takes the first r
// answers.
class Ignore final : public CodedScheme {
public:
    /// @param code  of the identity encoding, with a CollectDecoder
    Ignore(const Problem& problem, int most, GradientCode code, const IgnoreOptions& given)
        : CodedScheme(problem, std::move(code), given.deadline, given.shares), most_(most),
          given_(given), collecting_(dynamic_cast<CollectDecoder&>(decoder())),
          all_(static_cast<std::size_t>(problem.workers))
    {
        std::iota(all_.begin(), all_.end(), 0);
    }

    Needs needs() const override
    {
        auto needs = CodedScheme::needs();
        needs.inner_product = given_.adaptive.has_value();
        if (given_.reshuffle)
            for (auto& shard : needs.shard) shard = all_;
        return needs;
    }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override
    {
        return CodedScheme::plan(partition_of_[static_cast<std::size_t>(worker)]);
    }

    void begin(Version version) override
    {
        CodedScheme::begin(version);
        samples_received_ = 0;
        answers_ = 0;
        partition_of_ = all_;
        if (given_.reshuffle)
            Stream(problem().seed, Purpose::placement, round_).shuffle(partition_of_);
        ++round_;
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        samples_received_ += contribution.samples;
        ++answers_;
        return scaled(CodedScheme::receive(contribution));
    }

    std::optional<Step> expire() override { return scaled(CodedScheme::expire()); }

    void stepped(const Stepped& done) override
    {
        if (!given_.adaptive) return;
        against_ += done.inner_with_last < 0 ? 1 : -1;
        if (against_ <= given_.adaptive->count) return;
        collecting_.collect(std::min(most_, collecting_.collect() + given_.adaptive->step));
        against_ = 0;
    }

private:
    std::optional<Step> scaled(std::optional<Step> step) const
    {
        if (!step || given_.weights != IgnoreOptions::Weights::ratio) return step;
        const double a = static_cast<double>(samples()) / static_cast<double>(samples_received_);
        step->divisor = static_cast<double>(samples_received_);
        step->error = answers_ * (a - 1) * (a - 1) + (problem().workers - answers_);
        return step;
    }

    int most_;
    IgnoreOptions given_;
    CollectDecoder& collecting_;
    std::vector<int> all_;           // 0..n-1
    std::vector<int> partition_of_;  // by worker, in the running round
    std::uint32_t round_ = 0;
    std::int64_t samples_received_ = 0;
    int answers_ = 0, against_ = 0;
};

std::unique_ptr<Scheme> make_ignore(const IgnoreOptions& given, const Problem& problem)
{
    using enum IgnoreOptions::Weights;
    const int n = problem.workers;
    const auto& limit = given.deadline;
    if (given.collect && given.stragglers)
        throw Refusal("collect", ", but --stragglers says it too: leave out one of the two");
    const bool by_answers = limit.adaptive || given.collect;
    const int stragglers = given.stragglers.value_or(1);
    if (!by_answers) at_most("stragglers", stragglers, n - 1);
    const int most = by_answers ? quorum(limit, given.collect, n) : n - stragglers;
    const std::string by_q =
        ", but a round with --deadline adaptive ends by its Q: leave out one of the two";
    if (limit.adaptive && given.stragglers) throw Refusal("stragglers", by_q);
    if (limit.adaptive && given.adaptive) throw Refusal("adaptive", by_q);
    if (given.least_frequency && given.weights != horvitz_thompson)
        throw Refusal("least-frequency",
                      ", but only --weights horvitz-thompson uses it: leave it out");
    if (given.adaptive && given.adaptive->start > most)
        throw Refusal("adaptive",
                      fmt::format(", but it can start with {} answers at most: the workers without "
                                  "--stragglers",
                                  most));
    if (!given.shares.empty() && given.reshuffle)
        throw Refusal("shares",
                      ", but with --reshuffle all workers compute all partitions: leave out one of "
                      "the two");
    const int first = given.adaptive ? given.adaptive->start : most;
    auto weigh = given.weights == horvitz_thompson
                     ? quorate::horvitz_thompson(
                           n, limit.adaptive ? std::min(n, limit.adaptive->quorum) : first,
                           given.least_frequency.value_or(0.1))
                     : plain_sum(n);
    auto identity = repetition_encoding(repetition_groups(n, 1));
    auto decoder = std::make_unique<CollectDecoder>(identity, first, std::move(weigh));
    return std::make_unique<Ignore>(problem, most,
                                    GradientCode{std::move(identity), std::move(decoder)}, given);
}

Blocked blocked(const IgnoreOptions& given, int n)
{
    // Tasks are not alike with shares, and are not of all that a worker stores with --reshuffle.
    if (given.adaptive || given.deadline.given() || given.reshuffle || !given.shares.empty())
        return {};
    return until_answers(
        n, given.collect ? answers(given.collect, n) : n - given.stragglers.value_or(1));
}

}  // namespace

void read_option(IgnoreOptions::Growth& growth, const GivenWords& given)
{
    std::vector<int> numbers;
    for (const auto& word : split(given.text(), ',')) {
        const auto number = to_integer(word);
        if (number && *number >= 1 && *number <= 1'000'000)
            numbers.push_back(static_cast<int>(*number));
    }
    if (numbers.size() != 3) given.refuse(": write START,STEP,COUNT, whole numbers of at least 1");
    growth = {numbers[0], numbers[1], numbers[2]};
}

std::string written(const IgnoreOptions::Growth& growth, const OptionRow&)
{
    return fmt::format("{},{},{}", growth.start, growth.step, growth.count);
}

SchemeEntry<IgnoreOptions> IgnoreOptions::entry()
{
    return {
        .name = "ignore",
        .text =
            "no redundancy: takes the first N - S answers; unbiased if stragglers are random, else "
            "use --weights horvitz-thompson or --reshuffle",
        .source = "Chen et al., arXiv 1604.00981; Dutta et al., AISTATS 2018 (K-sync)",
        .options = options<IgnoreOptions>({
            {&IgnoreOptions::weights, worded("weights", {"rescale", "horvitz-thompson", "ratio"})},
            {&IgnoreOptions::least_frequency,
             {"least-frequency", "F", "",
              "the least share of rounds in which a worker is taken to answer in time; "
              "default: 0.1"},
             {.lowest = 1e-6, .highest = 1}},
            {&IgnoreOptions::reshuffle,
             {"reshuffle", "", "",
              "give the partitions to other workers in each round; every worker stores all "
              "data"}},
            {&IgnoreOptions::adaptive,
             {"adaptive", "START,STEP,COUNT", "",
              "begin with START answers, and wait for STEP more whenever COUNT more "
              "estimates went against the one before than along it, up to N - S"}},
        }),
        .make = make_ignore,
        .properties = {.candidates =
                           [](int n, bool) {
                               const auto plain = doubled_stragglers(n / 2);
                               auto all = plain;
                               for (auto choice : plain) {
                                   choice.emplace_back("weights", "horvitz-thompson");
                                   all.push_back(std::move(choice));
                               }
                               for (auto choice : plain) {
                                   choice.emplace_back("reshuffle", "on");
                                   all.push_back(std::move(choice));
                               }
                               all.push_back({{"deadline", adaptive_deadline_tried(n)}});
                               return all;
                           },
                       .blocked = blocked,
                       .example = {{"stragglers", "3"}}}};
}

}  // namespace quorate
