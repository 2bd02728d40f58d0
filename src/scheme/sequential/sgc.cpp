// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>

#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/sequential/multiplexed.hpp"
#include "scheme/sequential/schemes.hpp"
#include "scheme/sequential/selective_repetition.hpp"

namespace quorate {

namespace {

/// @param least  of --burst
template <class T>
Fields<T> sequential_options(double least)
{
    constexpr double most = 1 << 20;
    return {
        {&T::burst,
         {"burst", "B", "1", "exchanges in a row in which a worker may straggle"},
         {.lowest = least, .highest = most}},
        {&T::window,
         {"window", "W", "",
          "exchanges in which at most --lambda workers straggle; default: B + 1"},
         {.lowest = 2, .highest = most}},
        {&T::lambda, {"lambda", "L", "1", "workers that may straggle in a window", 0}},
        {&T::models,
         {"models", "M", "1",
          "models trained in turn, more than the delay of the code; 1: one, with late updates"},
         {.lowest = 1, .highest = most}},
        {&T::mu,
         {"mu", "MU", "1",
          "who takes longer than 1 + MU times the fastest worker may be left behind as a "
          "straggler"}},
        {&T::wait_out,
         {"wait-out", "conform|all|quorum:Q[,GRACE]", "conform",
          "where stragglers do not fit B, W and L: wait until they do, or for all; quorum: end as "
          "soon as at most Q workers are missing and fit, whatever --mu is, and GRACE times as "
          "long after that",
          1}},
    };
}

// Makes an exact code for so many stragglers. A job is decoded in one exchange only, so the code
// must always decode accurately. Fractional repetition does, because its weights are 0 and 1. If s
// + 1 does not divide n, some of its groups load workers more than necessary; then a cyclic code is
// taken if it comes without a warning about its accuracy.
GradientCode exact_code(int workers, int stragglers)
{
    if (workers % (stragglers + 1) != 0)
        if (auto cyclic = cyclic_code(workers, stragglers); cyclic.warning.empty()) return cyclic;
    return fractional_repetition(workers, stragglers + 1);
}

template <class T>
std::unique_ptr<Scheme> sequential(const T& given, const Problem& problem,
                                   std::unique_ptr<SequentialCode> code)
{
    if (given.models > 1 && given.models <= code->delay())
        throw Refusal("models", fmt::format(", but a job is decoded {} exchanges after its own: "
                                            "use --models {} or more, or 1",
                                            code->delay(), code->delay() + 1));
    return std::make_unique<Sequential>(problem, std::move(code), WaitOut{given.mu, given.wait_out},
                                        given.models);
}

std::unique_ptr<Scheme> make_selective(const SrSgcOptions& given, const Problem& problem)
{
    const int n = problem.workers, burst = given.burst, lambda = given.lambda;
    if (burst == 0) {  // plain gradient coding
        if (given.window)
            throw Refusal("window", ", but --burst 0 looks at single exchanges: leave it out");
        if (lambda == n) throw Refusal("lambda", ", which are all workers: use fewer");
        return sequential(given, problem,
                          std::make_unique<SelectiveRepetition>(problem, exact_code(n, lambda),
                                                                lambda, Bursty{0, 1, 0}));
    }
    const int window = given.window.value_or(burst + 1);
    if ((window - 1) % burst != 0 || window <= burst)
        throw Refusal(
            "window",
            fmt::format(", but sr-sgc needs a multiple of --burst {} plus 1: try {} or {}", burst,
                        std::max(1, (window - 1) / burst) * burst + 1,
                        ((window - 1) / burst + 1) * burst + 1));
    const int stragglers = (burst * lambda + window - 2 + burst) / (window - 1 + burst);
    if (stragglers >= n)
        throw Refusal("lambda", fmt::format(", which with these bursts are {} stragglers an "
                                            "exchange, of {} workers: use fewer",
                                            stragglers, n));
    return sequential(
        given, problem,
        std::make_unique<SelectiveRepetition>(problem, exact_code(n, stragglers), stragglers,
                                              Bursty{burst, window, lambda}));
}

std::unique_ptr<Scheme> make_multiplexed(const MSgcOptions& given, const Problem& problem)
{
    const int n = problem.workers;
    const Bursty model{given.burst, given.window.value_or(given.burst + 1), given.lambda};
    if (model.window <= model.burst)
        throw Refusal("window", fmt::format(", but m-sgc needs more than --burst {}: use --window "
                                            "{} or more",
                                            model.burst, model.burst + 1));
    if (const auto units = Multiplexed::units(n, model); units > problem.rows)
        throw Refusal("lambda",
                      fmt::format(", for which m-sgc cuts the data into {} units, but there are {} "
                                  "training rows: use a smaller --lambda or --window, or fewer "
                                  "workers",
                                  units, problem.rows));
    auto code = model.workers < n ? exact_code(n, model.workers) : GradientCode{};
    return sequential(given, problem,
                      std::make_unique<Multiplexed>(problem, std::move(code), model));
}

const char* const sequential_coding =
    "Krishnan, Ebrahimi, Khisti, Sequential Gradient Coding for Straggler Mitigation, ICLR 2023";

// Straggling in so many exchanges of a window of so many, and for the shortest window rules of
// waiting: by default an exchange lasts twice as long as the fastest worker takes, unless all have
// answered, which is seldom the best.
std::vector<Choice> bursts_tried(int workers, const std::vector<int>& numbers_late)
{
    constexpr std::pair<int, int> bursts[] = {{1, 2}, {1, 3}, {2, 3}};
    std::vector<Choice> all;
    for (const auto late : numbers_late) {
        std::vector<Choice> some;
        for (const auto& [burst, window] : bursts)
            some.push_back({{"burst", std::to_string(burst)},
                            {"window", std::to_string(window)},
                            {"lambda", std::to_string(late)}});
        const auto quorum = fmt::format("quorum:{},0.02", std::min(late, workers / 2));
        const auto waiting = crossed(
            {some.front()},
            {{{"mu", "0.1"}}, {{"mu", "0.1"}, {"wait-out", "all"}}, {{"wait-out", quorum}}});
        all.insert(all.end(), some.begin(), some.end());
        all.insert(all.end(), waiting.begin(), waiting.end());
    }
    return all;
}

// From a sixteenth of the workers to less than half of them.
std::vector<int> numbers_late(int workers)
{
    std::vector<int> all;
    for (int late = std::max(1, workers / 16); late < workers / 2; late *= 2) all.push_back(late);
    return all;
}

}  // namespace

SchemeEntry<SrSgcOptions> SrSgcOptions::entry()
{
    return {
        .name = "sr-sgc",
        .text =
            "sequential gradient coding by repetition: a job that had too many stragglers is "
            "repeated in part B exchanges later; exact; B = 0: gradient coding with that waiting "
            "rule",
        .source = sequential_coding,
        .options = sequential_options<SrSgcOptions>(0),
        .make = make_selective,
        .properties = {.candidates = [](int n, bool) { return bursts_tried(n, numbers_late(n)); }}};
}

SchemeEntry<MSgcOptions> MSgcOptions::entry()
{
    return {
        .name = "m-sgc",
        .text =
            "multiplexed sequential gradient coding: at most twice the uncoded load for bursts of "
            "many stragglers; exact; several models in turn, or late updates",
        .source = sequential_coding,
        .options = sequential_options<MSgcOptions>(1),
        .make = make_multiplexed,
        .properties = {.candidates = [](int n, bool) {
            auto late = numbers_late(n);
            late.push_back(n);  // without coded chunks
            return bursts_tried(n, late);
        }}};
}

}  // namespace quorate
