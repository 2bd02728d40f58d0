// SPDX-License-Identifier: BSD-2-Clause
// Pipelined gradient coding stores as much as gradient coding and computes as little as an uncoded
// scheme. In each round a worker computes the gradient of one of its d partitions, that whose
// gradient is oldest. It sends the coded sum of this gradient and the others, which it has cached
// in the d - 1 rounds before. Su and Li, "Pipelined Gradient Coding", arXiv 2607.20739.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "code/collect_decoder.hpp"
#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "scheme/cached/caching_plans.hpp"
#include "scheme/cached/pipeline_queue.hpp"
#include "scheme/cached/schemes.hpp"
#include "scheme/contributions.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/synchronous.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

// Rounds end as soon as the code decodes, and who is late is interrupted.
class Pipelined final : public SynchronousScheme {
public:
    /// @param cap     on the staleness; by default it is twice the partitions of a worker
    /// @param damped  whether steps are shortened if decoding weights are large
    Pipelined(const Problem& problem, GradientCode code, int stragglers,
              const std::optional<std::int64_t>& cap, bool damped = false)
        : SynchronousScheme(Layout(code.encoding, problem)), code_(std::move(code)),
          cap_(cap.value_or(std::int64_t{2} * (stragglers + 1))), damped_(damped),
          anew_(layout().plans), received_(anew_), answered_(problem.workers, -1),
          stale_(problem.workers)
    {
        layout().plans = caching(anew_);
        layout().needs.staleness = static_cast<double>(row(0).size() - 1) / 2;
        layout().needs.stable_step = stable_step_of_cycle(static_cast<int>(row(0).size()));
    }

    std::string warning() const override { return code_.warning; }

protected:
    Task task(Worker worker, Version version) const override
    {
        // A worker that was late may go on with the gradient that it began in the round before.
        const bool late = version > 0 && answered_[worker] < version - 1;
        return {plan(worker), late ? Versions{version, version - 1} : Versions{version}};
    }

    // Workers whose answers were too stale compute all of their gradients anew, so that the round
    // can end. If the other answers suffice, they go on as before and are fresh again after d
    // answers.
    Task again(Worker worker, Version version) override
    {
        if (!stale_[worker]) return {};
        return {anew_[worker], {version}};
    }

    bool looks_back() const override { return true; }

    void begin(Version version) override
    {
        round_ = version;
        received_.clear();
        code_.decoder->begin();
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        const auto i = static_cast<std::size_t>(contribution.worker);
        answered_[i] = round_;
        stale_[i] = round_ - contribution.oldest > cap_;
        if (stale_[i]) return std::nullopt;
        received_.add(contribution);
        const auto* decoding = code_.decoder->receive(contribution.worker);
        if (!decoding) return std::nullopt;
        auto step = received_.step(*decoding, samples());
        if (damped_) step.scale = 1 / std::max(1.0, amplification(*decoding));
        return step;
    }

private:
    const Row& row(Worker worker) const { return code_.encoding.rows[worker][0]; }

    // max_j sum_i |a_i B_ij|: the factor by which errors of single gradients may grow.
    double amplification(const Decoding& decoding) const
    {
        std::vector<double> sum(code_.encoding.partitions);
        for (const auto& weight : decoding.weights)
            for (const auto& [partition, value] : row(weight.worker))
                sum[partition] += std::abs(decoding.scale * weight.value * value);
        return std::ranges::max(sum);
    }

    GradientCode code_;
    std::int64_t cap_;
    bool damped_;
    Plans anew_;  // gradients of this round only, none of them cached
    Contributions received_;
    std::vector<Version> answered_;  // the last round that each worker answered in time
    std::vector<bool> stale_;        // by worker: whether its last answer was too stale to be used
    Version round_ = 0;
};

std::unique_ptr<Scheme> make_frc(const PgcFrcOptions& given, const Problem& problem)
{
    const int n = problem.workers, s = given.stragglers;
    refuse_unless_divides("stragglers", s + 1, n);
    auto code = fractional_repetition(n, s + 1);
    if (given.collect.group)
        return std::make_unique<Pipelined>(problem, std::move(code), s, given.staleness_cap);
    if (given.collect.answers) at_most("collect", *given.collect.answers, n);
    return pipeline_queue(problem, std::move(code), given.collect.answers.value_or(n - s),
                          given.staleness_cap);
}

std::unique_ptr<Scheme> make_cyclic(const PgcCyclicOptions& given, const Problem& problem)
{
    using enum PgcCyclicOptions::Decoder;
    const int n = problem.workers, s = given.stragglers;
    const auto cap = given.staleness_cap;
    const auto decoder = given.decoder.value_or(n % (s + 1) == 0 ? residue : mds);
    if (decoder == residue) {
        refuse_unless_divides("stragglers", s + 1, n);
        return std::make_unique<Pipelined>(problem, residue_class_code(n, s), s, cap);
    }
    if (decoder == mds)
        return std::make_unique<Pipelined>(problem, cyclic_code(n, s), s, cap, true);
    const auto windows = cyclic_windows(n, s + 1);
    return std::make_unique<Pipelined>(problem, collecting(windows, n - s, one_step(windows)), s,
                                       cap);
}

}  // namespace

void read_option(PgcFrcOptions::Collect& collect, const GivenWords& given)
{
    collect.group = given.text() == "group";
    if (collect.group) return;
    if (!to_integer(given.text())) given.refuse(": give a whole number, or group");
    collect.answers = static_cast<int>(whole_number_of(given, std::numeric_limits<int>::max()));
}

std::string written(const PgcFrcOptions::Collect& collect, const OptionRow&)
{
    return collect.group ? "group" : collect.answers ? std::to_string(*collect.answers) : "";
}

SchemeEntry<PgcFrcOptions> PgcFrcOptions::entry()
{
    return {
        .name = "pgc-frc",
        .text =
            "pipelined fractional repetition: stores S + 1 partitions, computes one a round; any "
            "S stragglers, who go on; gradients are up to S rounds old",
        .source = "Su and Li, Pipelined Gradient Coding, arXiv 2607.20739",
        .options = options<PgcFrcOptions>(),
        .make = make_frc,
        .properties = {.example = {{"workers", "6"}}}};
}

SchemeEntry<PgcCyclicOptions> PgcCyclicOptions::entry()
{
    return {
        .name = "pgc-cyclic",
        .text =
            "pipelined cyclic code, for any number of workers; residue and mds are exact for "
            "gradients that stand still, mu is the published rescaling",
        .source = "Su and Li, Pipelined Gradient Coding, arXiv 2607.20739",
        .options = options<PgcCyclicOptions>(
            {{&PgcCyclicOptions::decoder, worded("decoder", {"residue", "mds", "mu"})}}),
        .make = make_cyclic,
        .properties = {.candidates = [](int n, bool) { return doubled_stragglers(n / 2 - 1); }}};
}

}  // namespace quorate
