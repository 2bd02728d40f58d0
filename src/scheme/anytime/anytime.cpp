// SPDX-License-Identifier: BSD-2-Clause
// Schemes with rounds in which each worker does as much as it can in a fixed time (amb,
// anytime-sgd), or a fixed number of steps of its own (local-average).
#include <fmt/format.h>

#include "scheme/anytime/compute_time.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/rounds/adaptive_deadline.hpp"
#include "scheme/rounds/synchronous.hpp"
#include "scheme/sample_mean.hpp"

namespace quorate {

namespace {

using Weights = AmbOptions::Weights;

// Worker i holds partition i.
class Anytime final : public SynchronousScheme {
public:
    /// @tparam T  the options: with local steps workers make steps of their own, else they sum
    ///     gradients; with a compute time they have a fixed time, else a fixed number of steps
    template <class T>
    Anytime(const T& given, const Problem& problem)
        : workers_(problem.workers), own_(problem), mean_(own_.needs.blocks),
          quorum_(problem.workers)
    {
        if constexpr (requires { given.weights; }) weights_ = given.weights;
        if constexpr (requires { given.local_steps; }) {
            steps_ = given.local_steps;
            outer_step_ = given.outer_step;
            own_.plans = descending(own_.plans);
        }
        if constexpr (requires { given.deadline; }) {
            if (given.collect) quorum_ = quorum(given.deadline, given.collect, workers_);
            deadline_ = given.deadline.fixed;
            if (given.deadline.adaptive) grace_.emplace(workers_, *given.deadline.adaptive);
        }
        if constexpr (requires { given.compute_time; }) {
            time_.emplace(given.compute_time, given.micro_batch, problem, own_.samples);
            if constexpr (requires { given.samples_cap; })
                if (given.samples_cap) time_->cap(*given.samples_cap, problem, own_.needs);
            if (time_->known() && given.probe)
                throw Refusal("probe", ", but --compute-time is given, not chosen: leave it out");
            probe_ = time_->known() ? 0 : given.probe.value_or(10);
            communication_ = given.communication_time;
        }
    }

    Needs needs() const override
    {
        auto needs = own_.needs;
        needs.limits_time = time_.has_value();
        needs.displaces = descends();
        needs.answers = quorum_ < workers_ ? quorum_ : 0;
        return needs;
    }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override
    {
        return own_.plans[static_cast<std::size_t>(worker)];
    }

    Task task(Worker worker, Version version) const override
    {
        if (limited_) return {plan(worker), {version}, time_->budget(worker)};
        return {plan(worker), {version}, {.samples = steps_}};
    }

    // If no worker has finished anything, all get a task of one micro-batch or step without a limit
    // of time. The first to finish it ends the round.
    Task again(Worker worker, Version version) override
    {
        if (!std::exchange(told_, true))
            said_ = fmt::format(
                "no worker finished anything within {:g} s in round {}: such rounds wait for the "
                "first that does; use a longer --compute-time",
                time_->seconds(), version + 1);
        const auto rows = descends() ? 1 : time_->least(worker);
        return {plan(worker), {version}, {.samples = rows, .micro_batch = rows}};
    }

    void begin(Version) override
    {
        mean_.clear();
        units_ = 0;
        divisor_ = 0;
        answers_ = 0;
        if (grace_) grace_->begin();
        limited_ = time_ && round_++ >= probe_;
        if (limited_ && !time_->known()) said_ = time_->choose();
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        ++answers_;
        if (grace_) grace_->answered(elapsed());
        if (time_) time_->receive(contribution, !limited_);
        if (contribution.samples > 0) add(contribution);
        // Answers after the first n are those to the tasks of again().
        return answers_ >= quorum_ ? step() : std::nullopt;
    }

    Seconds limit() const override
    {
        return limited_ ? time_->seconds() + communication_ : deadline_;
    }
    std::optional<Seconds> new_limit() const override
    {
        return grace_ ? grace_->limit() : std::nullopt;
    }
    std::optional<Step> expire() override { return step(); }
    std::optional<Step> make_do() override { return step(); }

    std::string say() override { return std::exchange(said_, ""); }

private:
    bool descends() const { return steps_ > 0; }

    void add(const Contribution& contribution)
    {
        const auto samples = static_cast<double>(contribution.samples);
        const auto worker = contribution.worker;
        units_ += samples;
        if (descends()) {
            mean_.add_whole(contribution, worker, samples);
            divisor_ += samples;
            return;
        }
        const double all =
            weights_ == Weights::samples ? samples
            : weights_ == Weights::equal
                ? 1
                : static_cast<double>(own_.needs.blocks[static_cast<std::size_t>(worker)].count);
        mean_.add(contribution, worker, all / samples);
        divisor_ += all;
    }

    std::optional<Step> step() const
    {
        if (mean_.empty()) return std::nullopt;
        auto step = mean_.step(divisor_);
        step.displacement = descends();
        step.scale = outer_step_;
        step.share = units_ / static_cast<double>(descends() ? workers_ : own_.samples);
        return step;
    }

    int workers_;
    Weights weights_ = Weights::samples;
    std::int64_t steps_ = 0;     // that a worker makes in a round without a limit; 0: none
    double outer_step_ = 1;      // of the optimiser along their mean
    Seconds communication_ = 0;  // how long a round waits for answers after the compute time
    OwnPartitions own_;
    SampleMean mean_;
    int quorum_;                             // answers that end a round
    Seconds deadline_ = never;               // of a round without a compute time
    std::optional<AdaptiveDeadline> grace_;  // for those behind a quorum
    std::optional<ComputeTime> time_;
    bool limited_ = false, told_ = false;
    std::int64_t round_ = 0, probe_ = 0;  // rounds without a limit from which the time is chosen
    int answers_ = 0;
    double units_ = 0, divisor_ = 0;
    std::string said_;
};

}  // namespace

SchemeEntry<AmbOptions> AmbOptions::entry()
{
    return {.name = "amb",
            .text =
                "anytime minibatch: all compute for the same time, on as many samples as they can; "
                "slow workers cost samples, not time",
            .source = "Ferdinand et al., Anytime Minibatch, ICLR 2019",
            .options = options<AmbOptions>(
                {{&AmbOptions::weights, worded("weights", {"samples", "equal", "shard"})}}),
            .make = construct_a<Anytime>,
            .properties = {.candidates = [](int, bool timed) -> std::vector<Choice> {
                               if (!timed) return {};
                               return {{{"compute-time", "auto"}}, {{"compute-time", "match"}}};
                           },
                           .varying_samples = true,
                           .example = {{"compute-time", "0.004"}}}};
}

SchemeEntry<AnytimeSgdOptions> AnytimeSgdOptions::entry()
{
    return {.name = "anytime-sgd",
            .text =
                "local SGD for the same time on all workers; models are averaged by the steps they "
                "have made; the probe's rounds make --local-steps",
            .source = "Ferdinand and Draper, Anytime Stochastic Gradient Descent, arXiv 1810.02976",
            .options = options<AnytimeSgdOptions>(),
            .make = construct_a<Anytime>,
            .properties = {.varying_samples = true,
                           .example = {{"compute-time", "0.004"}, {"batch", "70"}}}};
}

SchemeEntry<LocalAverageOptions> LocalAverageOptions::entry()
{
    return {.name = "local-average",
            .text =
                "local SGD: each worker makes --local-steps steps on its own rows, then models are "
                "averaged, of all workers, the first --collect, or those before a --deadline",
            .source = "Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019",
            .options = options<LocalAverageOptions>(),
            .make = construct_a<Anytime>,
            .properties = {.varying_samples = true}};
}

}  // namespace quorate
