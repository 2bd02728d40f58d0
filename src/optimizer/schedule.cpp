// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace quorate {

namespace {

constexpr double positive = std::numeric_limits<double>::min();

// What is behind "name:" must be right, else the form says what is.
[[noreturn]] void refuse(const Settings& settings)
{
    const auto& entry = chosen(schedules(), settings, "schedule");
    settings.refuse("schedule", fmt::format(": write {}, {}", entry.form(), entry.text));
}

// The words behind "name:", between commas.
std::vector<std::string> words_of(const Settings& settings)
{
    const auto& text = settings.text("schedule");
    const auto colon = text.find(':');
    std::vector<std::string> words;
    if (colon != std::string::npos)
        for (const auto& word : split(text.substr(colon + 1), ',')) words.push_back(trimmed(word));
    return words;
}

// A number of batches; with an e behind it, of epochs.
std::optional<double> batches_of(const std::string& word, const Span& span)
{
    if (!word.ends_with('e')) return to_real(word);
    const auto epochs = to_real(word.substr(0, word.size() - 1));
    return epochs ? std::optional(*epochs * span.epoch) : std::nullopt;
}

// Reads the numbers behind "name:", each of which must be at least as large as `lowest` says.
// @param first_is_batches  whether the first one counts batches, or epochs
std::vector<double> arguments(const Settings& settings, const Span& span,
                              const std::vector<double>& lowest, bool first_is_batches = false)
{
    std::vector<double> numbers;
    for (const auto& word : words_of(settings))
        numbers.push_back(
            (numbers.empty() && first_is_batches ? batches_of(word, span) : to_real(word))
                .value_or(-1));
    bool good = numbers.size() == lowest.size();
    for (std::size_t i = 0; good && i < lowest.size(); ++i) good = numbers[i] >= lowest[i];
    if (!good) refuse(settings);
    return numbers;
}

Schedule constant(const Settings& settings, double step, const Span& span)
{
    arguments(settings, span, {});
    return [step](double) { return step; };
}

Schedule inverse(const Settings& settings, double step, const Span& span)
{
    const auto given = arguments(settings, span, {positive}, true);
    return [step, t0 = given[0]](double t) { return step * t0 / (t + t0); };
}

Schedule inverse_sqrt(const Settings& settings, double step, const Span& span)
{
    const auto given = arguments(settings, span, {positive}, true);
    return [step, t0 = given[0]](double t) { return step * std::sqrt(t0 / (t + t0)); };
}

Schedule geometric(const Settings& settings, double step, const Span& span)
{
    const auto given = arguments(settings, span, {positive});
    return [step, r = given[0]](double t) { return step * std::pow(r, t); };
}

Schedule stepwise(const Settings& settings, double step, const Span& span)
{
    const auto given = arguments(settings, span, {1, positive}, true);
    return [step, every = given[0], factor = given[1]](double t) {
        return step * std::pow(factor, std::floor(t / every));
    };
}

Schedule listed(const Settings& settings, double step, const Span& span)
{
    std::vector<std::pair<double, double>> places;  // from so many batches on, so many times --step
    for (const auto& word : words_of(settings)) {
        const auto equals = word.find('=');
        const auto from = batches_of(word.substr(0, equals), span);
        const auto factor =
            equals == std::string::npos ? std::nullopt : to_real(word.substr(equals + 1));
        if (!from || !factor || !(*factor >= positive) ||
            !(*from > (places.empty() ? 0 : places.back().first)))
            refuse(settings);
        places.emplace_back(*from, *factor);
    }
    if (places.empty()) refuse(settings);
    return [step, places](double t) {
        const auto next =
            std::ranges::upper_bound(places, t, {}, &std::pair<double, double>::first);
        return next == places.begin() ? step : step * std::prev(next)->second;
    };
}

Schedule linear(const Settings& settings, double step, const Span& span)
{
    const auto given = arguments(settings, span, {0});
    const auto last = static_cast<double>(std::max<std::int64_t>(1, span.rounds - 1));
    return [step, end = given[0], last](double t) {
        return step + (end - step) * std::min(1.0, t / last);
    };
}

Entry<MakeSchedule> entry(std::string name, std::string arguments, std::string text,
                          MakeSchedule make)
{
    return {std::move(name), std::move(arguments), std::move(text), "textbook", {}, make};
}

}  // namespace

const std::vector<Entry<MakeSchedule>>& schedules()
{
    static const std::vector<Entry<MakeSchedule>> all = {
        entry("constant", "", "the same step all the time", constant),
        entry("inverse", "T0", "step T0 / (t + T0) after t batches", inverse),
        entry("inverse-sqrt", "T0", "step sqrt(T0 / (t + T0)) after t batches", inverse_sqrt),
        entry("geometric", "R", "step R^t after t batches", geometric),
        entry("step", "EVERY,FACTOR", "multiplied with FACTOR after EVERY batches", stepwise),
        entry("list", "T=FACTOR,...",
              "FACTOR times --step from T batches on, T ascending: list:30e=0.1,60e=0.01", listed),
        entry("linear", "END",
              "in a straight line from --step to END, after as many batches as there are rounds",
              linear),
    };
    return all;
}

Schedule schedule_of(const Settings& settings, double step, const Span& span)
{
    auto schedule = chosen(schedules(), settings, "schedule").make(settings, step, span);
    const auto batches = batches_of(settings.text("warmup"), span);
    if (!batches || !(*batches >= 0))
        settings.refuse("warmup", ": write a number of batches, or of epochs as 5e");
    if (*batches == 0) return schedule;
    return [schedule, last = *batches](double t) {
        return schedule(t) * std::min(1.0, (t + 1) / last);
    };
}

double largest_step(const Schedule& schedule, std::int64_t rounds)
{
    double most = 0;
    for (std::int64_t t = 0; t < rounds; ++t)
        most = std::max(most, schedule(static_cast<double>(t)));
    return most;
}

}  // namespace quorate
