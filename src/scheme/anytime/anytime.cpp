// SPDX-License-Identifier: BSD-2-Clause
// Schemes with rounds in which each worker does as much as it can in a fixed time (amb,
// anytime-sgd), or a fixed number of steps of its own (local-average).
#include <fmt/format.h>

#include "scheme/anytime/compute_time.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/rounds/synchronous.hpp"
#include "scheme/sample_mean.hpp"

namespace quorate {

namespace {

enum class Weights { samples, equal, shard };

struct AnytimeWays {
    bool descends = false;          // workers make steps of their own; else they sum gradients
    bool timed = true;              // they have a fixed time; otherwise a fixed number of steps
    bool capped = false;            // and no more than --samples-cap
    std::int64_t fixed = 0;         // samples or steps of rounds without a limit; 0: their share
    std::int64_t probe = 0;         // rounds without a limit from which the time is chosen
    Seconds communication = never;  // after the time, how long a round waits for answers
    Weights weights = Weights::samples;
};

// Worker i holds partition i.
class Anytime final : public SynchronousScheme {
public:
    Anytime(const Settings& settings, const Problem& problem, const AnytimeWays& ways)
        : workers_(problem.workers), ways_(ways), own_(problem), mean_(own_.needs.blocks)
    {
        if (ways.descends)
            own_.plans = changed(own_.plans, [](Plan& plan) {
                plan.parts[0].items[0].operation = Item::Operation::descent;
            });
        if (ways.timed) time_.emplace(settings, problem, own_.samples);
        if (ways.capped) time_->cap(settings, problem, own_.needs);
        if (!time_ || !time_->known()) return;
        if (settings.on("probe"))
            settings.refuse("probe", ", but --compute-time is given, not chosen: leave it out");
        ways_.probe = 0;
    }

    Needs needs() const override
    {
        auto needs = own_.needs;
        needs.limits_time = ways_.timed;
        needs.displaces = ways_.descends;
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
        return {plan(worker), {version}, {.samples = ways_.fixed}};
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
        const auto rows = ways_.descends ? 1 : time_->least(worker);
        return {plan(worker), {version}, {.samples = rows, .micro_batch = rows}};
    }

    void begin(Version) override
    {
        mean_.clear();
        units_ = 0;
        divisor_ = 0;
        answers_ = 0;
        limited_ = ways_.timed && round_++ >= ways_.probe;
        if (limited_ && !time_->known()) said_ = time_->choose();
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        ++answers_;
        if (time_) time_->receive(contribution, !limited_);
        if (contribution.samples > 0) add(contribution);
        // Answers after the first n are those to the tasks of again().
        return answers_ >= workers_ ? step() : std::nullopt;
    }

    Seconds limit() const override
    {
        return limited_ ? time_->seconds() + ways_.communication : never;
    }
    std::optional<Step> expire() override { return step(); }
    std::optional<Step> make_do() override { return step(); }

    std::string say() override { return std::exchange(said_, ""); }

private:
    void add(const Contribution& contribution)
    {
        const auto samples = static_cast<double>(contribution.samples);
        const auto worker = contribution.worker;
        units_ += samples;
        if (ways_.descends) {
            mean_.add_whole(contribution, worker, samples);
            divisor_ += samples;
            return;
        }
        const double all =
            ways_.weights == Weights::samples ? samples
            : ways_.weights == Weights::equal
                ? 1
                : static_cast<double>(own_.needs.blocks[static_cast<std::size_t>(worker)].count);
        mean_.add(contribution, worker, all / samples);
        divisor_ += all;
    }

    std::optional<Step> step() const
    {
        if (mean_.empty()) return std::nullopt;
        auto step = mean_.step(divisor_);
        step.displacement = ways_.descends;
        step.share = units_ / static_cast<double>(ways_.descends ? workers_ : own_.samples);
        return step;
    }

    int workers_;
    AnytimeWays ways_;
    OwnPartitions own_;
    SampleMean mean_;
    std::optional<ComputeTime> time_;
    bool limited_ = false, told_ = false;
    std::int64_t round_ = 0;
    int answers_ = 0;
    double units_ = 0, divisor_ = 0;
    std::string said_;
};

Option probe_option()
{
    return {"probe", "ROUNDS", "",
            "rounds with fixed minibatches from which --compute-time auto and match take their "
            "times; default: 10"};
}

Option communication_time_option()
{
    return {"communication-time", "SECONDS", "",
            "a round ends so long after the compute time, whoever is silent; default: all answer"};
}

std::vector<Option> timed_options()
{
    return {compute_time_option(), probe_option(), micro_batch_option(),
            communication_time_option()};
}

AnytimeWays timed(const Settings& settings)
{
    AnytimeWays ways{.probe = settings.on("probe") ? settings.integer("probe", 1) : 10};
    if (settings.on("communication-time"))
        ways.communication = settings.seconds("communication-time");
    return ways;
}

Option local_steps_option()
{
    return {"local-steps", "N", "10",
            "steps that a worker makes on batches of its own between two averages"};
}

}  // namespace

Entry<MakeScheme> amb_entry()
{
    auto options = timed_options();
    options.push_back(samples_cap_option());
    options.push_back(weights_option());
    return {
        .name = "amb",
        .text =
            "anytime minibatch: all compute for the same time, on as many samples as they can; "
            "slow workers cost samples, not time",
        .source = "Ferdinand et al., Anytime Minibatch, ICLR 2019",
        .options = options,
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            auto ways = timed(settings);
            ways.capped = true;
            const auto weights = word_of(settings, "weights", {"samples", "equal", "shard"});
            ways.weights = weights == "samples" ? Weights::samples
                           : weights == "equal" ? Weights::equal
                                                : Weights::shard;
            return std::make_unique<Anytime>(settings, problem, ways);
        },
        .properties = {.candidates = [](int, bool timed) -> std::vector<Choice> {
                           if (!timed) return {};
                           return {{{"compute-time", "auto"}}, {{"compute-time", "match"}}};
                       },
                       .varying_samples = true,
                       .example = {{"compute-time", "0.004"}}}};
}

Entry<MakeScheme> anytime_sgd_entry()
{
    auto options = timed_options();
    options.push_back(local_steps_option());
    return {
        .name = "anytime-sgd",
        .text =
            "local SGD for the same time on all workers; models are averaged by the steps they "
            "have made; the probe's rounds make --local-steps",
        .source = "Ferdinand and Draper, Anytime Stochastic Gradient Descent, arXiv 1810.02976",
        .options = options,
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            auto ways = timed(settings);
            ways.descends = true;
            ways.fixed = settings.integer("local-steps", 1);
            return std::make_unique<Anytime>(settings, problem, ways);
        },
        .properties = {.varying_samples = true,
                       .example = {{"compute-time", "0.004"}, {"batch", "70"}}}};
}

Entry<MakeScheme> local_average_entry()
{
    return {
        .name = "local-average",
        .text =
            "local SGD: each worker makes --local-steps steps on its own rows, then models are "
            "averaged; one message for many steps",
        .source = "Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019",
        .options = {local_steps_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            AnytimeWays ways;
            ways.timed = false;
            ways.descends = true;
            ways.fixed = settings.integer("local-steps", 1);
            return std::make_unique<Anytime>(settings, problem, ways);
        },
        .properties = {.varying_samples = true}};
}

}  // namespace quorate
