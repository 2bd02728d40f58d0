// SPDX-License-Identifier: BSD-2-Clause
// Pipelined gradient coding: as much storage as gradient coding, as little computation as uncoded. In
// each round a worker computes the gradient of one of its d partitions, in turn, and sends its coded
// sum with the gradients of the others, which it keeps from the d - 1 rounds before.
// Su and Li, "Pipelined Gradient Coding", arXiv 2607.20739.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "code/collect_decoder.hpp"
#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "scheme/contributions.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/stability.hpp"
#include "scheme/synchronous.hpp"

namespace quorate {

namespace {

class Pipelined final : public SynchronousScheme {
public:
    /// @param damped  steps are shortened where decoding weights are large
    Pipelined(const Settings& settings, const Problem& problem, GradientCode code, int stragglers,
              bool damped = false)
        : problem_(problem), code_(std::move(code)),
          cap_(staleness_cap(settings, 2 * (stragglers + 1))),
          owes_(settings.one_of("lag", {"skip", "evaluate"}) == "evaluate"), damped_(damped),
          samples_(samples_of(code_.encoding, problem)),
          heard_(std::vector<int>(static_cast<std::size_t>(problem.workers), 1)),
          answered_(static_cast<std::size_t>(problem.workers), -1),
          turns_(static_cast<std::size_t>(problem.workers)),
          stale_(static_cast<std::size_t>(problem.workers))
    {
        for (int worker = 0; worker < problem.workers; ++worker) {
            kinds_.push_back(row(worker));
            const auto same = std::ranges::find(kinds_, row(worker));
            kind_.push_back(static_cast<int>(same - kinds_.begin()));
        }
    }

    Needs needs() const override
    {
        auto needs = needs_of(code_.encoding, problem_.rows);
        needs.staleness = static_cast<double>(row(0).size() - 1) / 2;
        needs.stable_step = stable_step_of_cycle(static_cast<int>(row(0).size()));
        return needs;
    }
    std::string warning() const override { return code_.warning; }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override
    {
        return plan(worker, {.phase = 0});
    }

    Task task(Worker worker, Version version) const override
    {
        const auto i = static_cast<std::size_t>(worker);
        const auto d = static_cast<Version>(row(worker).size());
        // Who is late takes its turn later, and its versions say so;
        if (!owes_) return {plan(worker, {.phase = static_cast<int>(turns_[i] % d)}), {version}};
        // or it keeps to the turns of the others: late for one round, it still computes what it owes
        // that round; late for more, it goes on with the newest.
        What what{.phase = static_cast<int>(version % d)};
        if (version > 0 && answered_[i] == version - 2) {
            what.owed = static_cast<int>((version - 1) % d);
            return {plan(worker, what), {version, version - 1}};
        }
        return {plan(worker, what), {version}};
    }

    // Those whose answers were too stale compute all anew, so that a round can end. Where others
    // suffice they go on as before, and are fresh again after d answers.
    Task again(Worker worker, Version version) override
    {
        if (!stale_[static_cast<std::size_t>(worker)]) return {};
        return {plan(worker, {.all = true}), {version}};
    }

    bool looks_back() const override { return true; }

    void begin() override
    {
        heard_.clear();
        code_.decoder->begin();
    }

    std::optional<Step> hear(const Contribution& contribution) override
    {
        const auto i = static_cast<std::size_t>(contribution.worker);
        // The newest of its gradients is this round's.
        answered_[i] = contribution.newest;
        ++turns_[i];
        stale_[i] = contribution.newest - contribution.oldest > cap_;
        if (stale_[i]) return std::nullopt;
        auto only = contribution;  // the one part that was sent
        only.part = 0;
        heard_.add(only);
        const auto* decoding = code_.decoder->hear(contribution.worker);
        if (!decoding) return std::nullopt;
        auto step = heard_.step(*decoding, samples_);
        if (damped_) step.scale = 1 / std::max(1.0, amplification(*decoding));
        return step;
    }

private:
    // What a plan evaluates: one partition, one more that is owed from the round before, or all.
    struct What {
        int phase = 0, owed = -1;
        bool all = false;
        auto operator<=>(const What&) const = default;
    };

    const Row& row(Worker worker) const
    {
        return code_.encoding.rows[static_cast<std::size_t>(worker)][0];
    }

    // Partitions in the order of their turns: those of a cyclic window from its beginning.
    int partition_at(Worker worker, int phase) const
    {
        const auto& held = row(worker);
        const bool whole = static_cast<int>(held.size()) == problem_.workers;
        auto first = static_cast<std::size_t>(whole ? worker : 0);
        for (std::size_t i = 1; i < held.size(); ++i)
            if (held[i].partition != held[i - 1].partition + 1) first = i;
        return held[(first + static_cast<std::size_t>(phase)) % held.size()].partition;
    }

    // Workers with equal rows share plans, so that they can share messages.
    std::shared_ptr<const Plan> plan(Worker worker, const What& what) const
    {
        auto& made = plans_[{kind_[static_cast<std::size_t>(worker)], what}];
        if (made) return made;
        Plan plan;
        using Operation = Item::Operation;
        if (what.owed >= 0)
            plan.parts.push_back({{Item{.block = partition_at(worker, what.owed),
                                        .input = 1,
                                        .operation = Operation::gradient,
                                        .keep = true}},
                                  false});
        Part part;
        for (const auto& [partition, value] : row(worker)) {
            const bool fresh = what.all || partition == partition_at(worker, what.phase);
            part.items.push_back({.block = partition,
                                  .input = 0,
                                  .coefficient = value,
                                  .operation = fresh ? Operation::gradient : Operation::cached,
                                  .keep = true});
        }
        plan.parts.push_back(std::move(part));
        made = std::make_shared<Plan>(std::move(plan));
        return made;
    }

    // max_j sum_i |a_i B_ij|: by how much errors of single gradients may grow.
    double amplification(const Decoding& decoding) const
    {
        std::vector<double> sum(static_cast<std::size_t>(code_.encoding.partitions));
        for (const auto& weight : decoding.weights)
            for (const auto& [partition, value] : row(weight.worker))
                sum[static_cast<std::size_t>(partition)] +=
                    std::abs(decoding.scale * weight.value * value);
        return std::ranges::max(sum);
    }

    Problem problem_;
    GradientCode code_;
    std::int64_t cap_;
    bool owes_, damped_;
    std::int64_t samples_;  // of a round
    Contributions heard_;
    std::vector<Version> answered_;  // the last round that each worker answered in time
    std::vector<Version> turns_;     // that each worker has taken
    std::vector<bool> stale_;        // whose last answer was not used
    std::vector<Row> kinds_;
    std::vector<int> kind_;  // of each worker: those with equal rows
    mutable std::map<std::pair<int, What>, std::shared_ptr<const Plan>> plans_;
};

Option lag_option()
{
    return {"lag", "skip|evaluate", "skip",
            "a worker that was late takes its turn later, or computes what it owes beside its next "
            "turn: less stale, but it may be late again"};
}

std::unique_ptr<Scheme> make_frc(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const int s = stragglers(settings, n - 1);
    refuse_unless_divides(settings, "stragglers", s + 1, n);
    return std::make_unique<Pipelined>(settings, problem, fractional_repetition(n, s + 1), s);
}

std::unique_ptr<Scheme> make_cyclic(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const int s = stragglers(settings, n - 1);
    const bool divides = n % (s + 1) == 0;
    const auto decoder = word_of(settings, "decoder",
                                 divides ? std::vector<std::string>{"residue", "mds", "mu"}
                                         : std::vector<std::string>{"mds", "residue", "mu"});
    if (decoder == "residue") {
        refuse_unless_divides(settings, "stragglers", s + 1, n);
        return std::make_unique<Pipelined>(settings, problem, residue_class_code(n, s), s);
    }
    if (decoder == "mds")
        return std::make_unique<Pipelined>(settings, problem, cyclic_code(n, s), s, true);
    auto windows = cyclic_windows(n, s + 1);
    auto rescaled = std::make_unique<CollectDecoder>(windows, n - s, one_step(windows));
    return std::make_unique<Pipelined>(settings, problem,
                                       GradientCode{std::move(windows), std::move(rescaled)}, s);
}

}  // namespace

Entry<MakeScheme> pgc_frc_entry()
{
    return {
        .name = "pgc-frc",
        .arguments = "",
        .text =
            "pipelined fractional repetition: stores S + 1 partitions, computes one a round; any "
            "S stragglers; gradients are up to S rounds old",
        .source = "Su and Li, Pipelined Gradient Coding, arXiv 2607.20739",
        .options = {stragglers_option(), staleness_cap_option(), lag_option()},
        .make = make_frc};
}

Entry<MakeScheme> pgc_cyclic_entry()
{
    return {
        .name = "pgc-cyclic",
        .arguments = "",
        .text =
            "pipelined cyclic code, for any number of workers; residue and mds are exact for "
            "gradients that stand still, mu is the published rescaling",
        .source = "Su and Li, Pipelined Gradient Coding, arXiv 2607.20739",
        .options = {stragglers_option(), staleness_cap_option(), lag_option(), decoder_option()},
        .make = make_cyclic};
}

}  // namespace quorate
