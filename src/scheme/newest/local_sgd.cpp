// SPDX-License-Identifier: BSD-2-Clause
// Rounds of a number of local steps, of whatever workers (local-sgd).
#include <fmt/format.h>

#include <algorithm>

#include "scheme/newest/newest_point.hpp"
#include "scheme/newest/schemes.hpp"
#include "scheme/newest/theory.hpp"
#include "scheme/options.hpp"
#include "scheme/sample_mean.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

// The answers of an update, each of --local-steps steps: as many as make up --total.
int answers_of(const LocalSgdOptions& given, int workers)
{
    const auto steps = given.local_steps;
    const auto known = theory_of(given).tasks();
    if (!given.total && !known) return workers;
    return static_cast<int>((given.total.value_or(known.value_or(1)) + steps - 1) / steps);
}

ComputationTree tree_of_steps(const LocalSgdOptions& given, int workers)
{
    return {.gradients = answers_of(given, workers) * given.local_steps, .stale = 0, .local = true};
}

std::string local_note(const LocalSgdOptions& given, const ComputationTree& tree)
{
    const auto theory = theory_of(given);
    std::string text;
    if (theory.tasks() && !given.total)
        text = fmt::format("{} steps an update, by max(1, SIGMA2 / EPS)", tree.gradients);
    else if (theory.noise && !theory.lipschitz)
        throw Refusal("noise", ", but only a step follows from it here: give --lipschitz too");
    const auto step = tree_note(theory, tree);
    if (!text.empty() && !step.empty()) text += "; ";
    return as_note(text + step);
}

// A worker that has answered makes further steps from the newest point, until there are enough.
// Then all of them are added to that point.
class LocalSgd final : public NewestPoint {
public:
    LocalSgd(const LocalSgdOptions& given, const Problem& problem)
        : NewestPoint(problem, {}, local_note(given, tree_of_steps(given, problem.workers)),
                      given.local_steps),
          answers_(answers_of(given, problem.workers)), outer_step_(given.outer_step),
          steps_(static_cast<double>(tree_of_steps(given, problem.workers).gradients)),
          mean_(own().needs.blocks)
    {
    }

    Needs needs() const override
    {
        auto needs = NewestPoint::needs();
        needs.answers = answers_;
        needs.stable_step = stable_local_step(0, steps_, outer_step_);
        return needs;
    }

protected:
    void begin() override { mean_.clear(); }
    bool wants(Worker) override { return true; }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        mean_.add_whole(contribution, contribution.worker, 1);
        if (mean_.size() < answers_) return std::nullopt;
        // Its error is that of the mean, which is a multiple of the sum.
        auto step = mean_.step(answers_);
        step.divisor = 1;
        step.displacement = true;
        step.scale = outer_step_;
        step.share = static_cast<double>(mean_.samples()) / static_cast<double>(own().plans.size());
        return step;
    }

private:
    int answers_;
    double outer_step_, steps_;
    SampleMean mean_;
};

}  // namespace

SchemeEntry<LocalSgdOptions> LocalSgdOptions::entry()
{
    return {
        .name = "local-sgd",
        .text =
            "local steps of whatever workers, until there are --total; then all are added to the "
            "model; who has answered makes further ones, and no worker is needed",
        .source = "Birch SGD, ICLR 2026 (Local SGD), by a summary",
        .options = options<LocalSgdOptions>(
            {{&LocalSgdOptions::total,
              {"total", "B", "",
               "local steps of an update, over all workers, rounded up to whole answers of "
               "--local-steps; default: SIGMA2 / EPS by --noise, or an answer of each worker"},
              {.lowest = 1, .highest = 1'000'000}}}),
        .make = [](const LocalSgdOptions& given,
                   const Problem& problem) { return std::make_unique<LocalSgd>(given, problem); },
        // As many steps as there are by default are too long together, if each is a usual one.
        .properties = {.tree = tree_of_steps,
                       .varying_samples = true,
                       .example = {{"total", "4"}, {"local-steps", "2"}}}};
}

}  // namespace quorate
