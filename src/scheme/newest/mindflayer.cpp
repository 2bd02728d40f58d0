// SPDX-License-Identifier: BSD-2-Clause
// Rounds in which each worker makes a number of trials, each cut off after a limit of time
// (mindflayer).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheme/newest/newest_point.hpp"
#include "scheme/newest/schemes.hpp"
#include "scheme/newest/theory.hpp"
#include "scheme/newest/trials.hpp"
#include "scheme/options.hpp"
#include "scheme/sample_mean.hpp"

namespace quorate {

std::vector<int> chosen_trials(double wanted, std::span<const WorkerTrials> trials)
{
    std::vector<std::size_t> order(trials.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return trials[i].cost; });
    // T(m) of the m workers whose trials cost least falls as long as that of the next one is below
    // it.
    double probability = 0, rate = 0, time = unlimited;
    std::size_t taken = 0;
    for (std::size_t m = 1; m <= order.size(); ++m) {
        const auto& [success, cost] = trials[order[m - 1]];
        if (cost == never || !(success > 0)) continue;
        probability += success;
        rate += success / cost;
        if (const auto with = (wanted + probability) / rate; with < time) {
            time = with;
            taken = m;
        }
    }
    std::vector<int> chosen(trials.size());
    for (std::size_t m = 0; m < taken; ++m) {
        const auto& [success, cost] = trials[order[m]];
        if (cost == never || !(success > 0)) continue;
        // Where rounding makes a whole number of T / c - 1 larger, that is not one trial more.
        chosen[order[m]] =
            static_cast<int>(std::min(1e6, std::max(0.0, std::ceil(time / cost - 1 - 1e-9))));
    }
    if (taken > 0 && std::ranges::all_of(chosen, [](int b) { return b == 0; }))
        chosen[order[0]] = 1;
    return chosen;
}

namespace {

// Until the times of all workers are known, but for first_rounds rounds at most, a round ends with
// its first S successes, like those of k-batch-sync.
class MindFlayer final : public NewestPoint {
public:
    /// @param wanted  S, successes of a round, where the number of trials is chosen
    MindFlayer(const Problem& problem, const MindFlayerOptions& given, double wanted,
               Restarts restarts)
        : NewestPoint(problem, std::move(restarts)), given_(given), wanted_(wanted),
          trials_(static_cast<std::size_t>(problem.workers), 0), left_(trials_),
          mean_(own().needs.blocks)
    {
    }

protected:
    void begin() override
    {
        mean_.clear();
        learning_ = !restarts()->known() && rounds_++ < first_rounds;
        expected_ = 0;
        limit_ = 0;
        if (learning_) return;
        choose();
        again();
        for (Worker i = 0; i < std::ssize(trials_); ++i) {
            const auto trials = trials_[static_cast<std::size_t>(i)];
            if (trials == 0) continue;
            expected_ += trials * success(i);
            const auto limit = restarts()->limit(i);
            limit_ = std::max(limit_, trials * limit * (1 + margin));
        }
        if (!said_) said_ = step_of_theory();
    }

    bool wants(Worker worker) override
    {
        return learning_ || left_[static_cast<std::size_t>(worker)]-- > 0;
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        mean_.add(contribution, contribution.worker);
        return ended();
    }
    std::optional<Step> fail(Worker) override { return ended(); }

    Seconds limit() const override { return learning_ || limit_ == 0 ? never : limit_; }
    std::optional<Step> expire() override { return step(); }
    void again() override
    {
        left_ = trials_;
        missing_ = std::reduce(trials_.begin(), trials_.end());
    }

    std::string say() override
    {
        if (!said_ || told_) return "";
        told_ = true;
        return *said_;
    }

private:
    static constexpr int first_rounds = 200;
    // By how much a round may last longer than all trials with their limits.
    static constexpr double margin = 0.1;

    double success(Worker worker) const
    {
        return given_.success ? *given_.success : restarts()->success(worker);
    }

    void choose()
    {
        if (given_.trials) {
            std::ranges::fill(trials_, *given_.trials);
            return;
        }
        std::vector<WorkerTrials> all;
        for (Worker i = 0; i < std::ssize(trials_); ++i)
            all.push_back({success(i), restarts()->cost(i)});
        trials_ = chosen_trials(wanted_, all);
        // Nothing is known of anybody.
        if (std::ranges::all_of(trials_, [](int b) { return b == 0; }))
            std::ranges::fill(trials_, 1);
    }

    // Takes note of a trial that has ended. @return the step, if it was the last
    std::optional<Step> ended()
    {
        if (learning_) return mean_.size() < wanted_ ? std::nullopt : step();
        return --missing_ > 0 ? std::nullopt : step();
    }

    std::optional<Step> step() const
    {
        if (mean_.empty()) return std::nullopt;
        const bool expected = given_.estimator == MindFlayerOptions::Estimator::expected;
        auto step =
            expected && !learning_ ? mean_.step(expected_ * samples_of_one()) : mean_.step();
        step.share = static_cast<double>(mean_.samples()) / static_cast<double>(own().samples);
        return step;
    }

    // Mean samples of a trial.
    double samples_of_one() const
    {
        return static_cast<double>(own().samples) / static_cast<double>(trials_.size());
    }

    // The step of the authors' code, with B = sum p_i B_i.
    std::optional<std::string> step_of_theory() const
    {
        const auto& [l, noise, target] =
            Theory{given_.lipschitz, given_.noise, given_.target_gradient};
        if (!l) return std::nullopt;
        const double step = *noise > 0
                                ? std::min(1 / (2 * *l), *target * expected_ / (2 * *l * *noise))
                                : 1 / (2 * *l);
        return fmt::format(
            "the theory: {:g} successes a round, max(1, SIGMA2 / EPS); its authors' code takes a "
            "step of "
            "{:g}, min(1 / (2 L), EPS B / (2 L SIGMA2)) for B = {:g} successes expected",
            std::max(1.0, *noise / *target), step, expected_);
    }

    MindFlayerOptions given_;
    double wanted_;
    std::vector<int> trials_, left_;  // by worker: of a round, and those that are still to be given
    SampleMean mean_;
    bool learning_ = false, told_ = false;
    int rounds_ = 0;
    std::int64_t missing_ = 0;  // trials that have not ended
    double expected_ = 0;       // successes of the round
    Seconds limit_ = 0;         // of the round
    std::optional<std::string> said_;
};

std::unique_ptr<Scheme> make_mindflayer(const MindFlayerOptions& given, const Problem& problem)
{
    const auto theory = theory_of(given);
    if (theory.lipschitz && !theory.noise)
        throw Refusal("lipschitz",
                      ", but this scheme's step follows from the noise too: give --noise and "
                      "--target-gradient");
    if (given.trials && given.collect)
        throw Refusal("collect",
                      ", but --trials says how much a round takes: leave out one of the two");
    const auto restart_after = given.restart_after.value_or(limit_by_times);
    if (given.success && restart_after == limit_by_times)
        throw Refusal(
            "success",
            ", but the limit of time is chosen as the run goes: give --restart-after SECONDS");
    // Of the mean of the trials that succeed, probabilities only choose the number of trials.
    if (given.success && given.trials && given.estimator == MindFlayerOptions::Estimator::ratio)
        throw Refusal("success",
                      ", which does nothing where --trials is a number and --estimator is ratio: "
                      "add --estimator expected, or leave it out");
    const double wanted = !given.collect && theory.noise
                              ? std::max(1.0, *theory.noise / *theory.target)
                              : given.collect.value_or((problem.workers + 1) / 2);
    return std::make_unique<MindFlayer>(
        problem, given, wanted, restarts(restart_after, problem, samples_of_a_task(problem)));
}

}  // namespace

SchemeEntry<MindFlayerOptions> MindFlayerOptions::entry()
{
    return {.name = "mindflayer",
            .text =
                "a number of tasks for each worker in a round, each cut off after a limit of time "
                "(--restart-after): for delays with heavy tails",
            .source = "Maranjyan et al., MindFlayer SGD, arXiv 2410.04285",
            .options = options<MindFlayerOptions>({
                {&MindFlayerOptions::trials,
                 {"trials", "B|auto", "auto",
                  "tasks of each worker in a round, those out of time included; auto: by the "
                  "workers' times, for M successes together (--collect)"},
                 {.lowest = 1, .highest = 1'000'000}},
                {&MindFlayerOptions::estimator, worded("estimator", {"ratio", "expected"})},
                {&MindFlayerOptions::success,
                 {"success", "P", "",
                  "probability that a task is complete within --restart-after; default: as "
                  "measured"},
                 {.lowest = 1e-6, .highest = 1}},
            }),
            .make = make_mindflayer,
            .properties = {.candidates = [](int n, bool) -> std::vector<Choice> {
                               return {{{"collect", std::to_string(n)}}};
                           },
                           .varying_samples = true,
                           .example = {{"restart-after", "0.02"}, {"trials", "2"}}}};
}

}  // namespace quorate
