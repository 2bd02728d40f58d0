// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

Encoding with_own_partitions(const Encoding& code, int own)
{
    const int n = code.workers();
    Encoding both{n * own + code.partitions, {}};
    for (int i = 0; i < n; ++i) {
        Row plain;
        for (int j = i * own; j < (i + 1) * own; ++j) plain.push_back({j, 1});
        std::vector<Row> parts = {plain};
        for (auto row : code.rows[i]) {
            for (auto& coefficient : row) coefficient.partition += n * own;
            parts.push_back(std::move(row));
        }
        both.rows.push_back(std::move(parts));
    }
    return both;
}

// For partial stragglers, which are slow but not dead. Each worker first sends the plain sum of
// partitions that it alone holds, then its rows of an exact code over the n partitions that are
// left. A round ends when all first messages and a quorum of second ones have come.
//
// k = n (u + 1) partitions: worker i's own are i u .. i u + u - 1, the last n are coded.
// Tolerates a slowdown of (u + d) / u. Tandon et al., "Gradient Coding", ICML 2017.
class Partial final : public SynchronousScheme {
public:
    /// @param own    u, partitions that each worker alone holds, at least 1
    /// @param code   exact, over n partitions
    /// @param limit  seconds after which a round ends with what has come; never: no limit
    Partial(const Problem& problem, int own, GradientCode code, Seconds limit)
        : SynchronousScheme(Layout(with_own_partitions(code.encoding, own), problem), limit),
          own_(own), code_(std::move(code)), encoding_(with_own_partitions(code_.encoding, own)),
          received_(layout().plans)
    {
        layout().needs.exact = limit == never;
        layout().plans = changed(layout().plans, [](Plan& plan) { plan.each_when_ready = true; });
    }

    std::string warning() const override { return code_.warning; }

protected:
    std::vector<Worker> order(std::vector<Worker> active) const override
    {
        return distinct_first(plans_of(code_.encoding), std::move(active));
    }

    void begin(Version) override
    {
        received_.clear();
        firsts_.clear();
        coded_.reset();
        code_.decoder->begin();
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        const bool complete = received_.add(contribution);
        if (contribution.part == 0) firsts_.push_back(contribution.worker);
        if (complete && !coded_)
            if (const auto* decoding = code_.decoder->receive(contribution.worker))
                coded_ = *decoding;
        if (!coded_ || std::ssize(firsts_) < encoding_.workers()) return std::nullopt;
        return expire();
    }

    // An approximate step of the first messages that have come, scaled up for the missing ones.
    std::optional<Step> expire() override
    {
        if (firsts_.empty()) return std::nullopt;
        const auto k = static_cast<double>(encoding_.partitions);
        const auto covered = static_cast<double>(own_) * static_cast<double>(firsts_.size());
        const auto coded = coded_ ? static_cast<double>(code_.encoding.partitions) : 0;
        // Without a quorum of second messages, the first ones are scaled to stand for the coded
        // partitions too.
        const double a = (k - coded) / covered;
        std::vector<Weight> weights;
        std::ranges::sort(firsts_);
        for (const auto worker : firsts_) weights.push_back({worker, 0, a});
        if (coded_)
            for (const auto& [worker, part, value] : coded_->weights)
                weights.push_back({worker, part + 1, value * coded_->scale});
        const bool whole = coded_ && std::ssize(firsts_) == encoding_.workers();
        const double error = whole ? coded_->error : decode_error(encoding_, weights, 1);
        return received_.step({std::move(weights), 1, error}, samples());
    }

private:
    int own_;
    GradientCode code_;
    Encoding encoding_;  // of both messages: part 0, and behind it the parts of the code
    Contributions received_;
    std::vector<Worker> firsts_;     // workers whose first message has come
    std::optional<Decoding> coded_;  // of the second messages, once they suffice
};

}  // namespace

SchemeEntry<PartialFrcOptions> PartialFrcOptions::entry()
{
    return {.name = "partial-frc",
            .text =
                "exact; workers first send partitions of their own, then coded ones by fractional "
                "repetition; for stragglers that are slow but never dead",
            .source = "Tandon et al., Gradient Coding, ICML 2017",
            .options = options<PartialFrcOptions>(),
            .make = [](const PartialFrcOptions& given, const Problem& problem) {
                const int d = given.stragglers + 1;
                return std::make_unique<Partial>(problem, given.own.value_or(d),
                                                 fractional_repetition(problem.workers, d),
                                                 seconds_of(given.deadline));
            }};
}

SchemeEntry<PartialCyclicOptions> PartialCyclicOptions::entry()
{
    return {
        .name = "partial-cyclic",
        .text = "exact; as partial-frc, with a cyclic code: any N - S second messages are enough",
        .source = "Tandon et al., Gradient Coding, ICML 2017",
        .options = options<PartialCyclicOptions>(),
        .make = [](const PartialCyclicOptions& given, const Problem& problem) {
            return std::make_unique<Partial>(
                problem, given.own.value_or(given.stragglers + 1),
                chosen_cyclic_code(given.coefficients, given.stragglers, problem),
                seconds_of(given.deadline));
        }};
}

}  // namespace quorate
