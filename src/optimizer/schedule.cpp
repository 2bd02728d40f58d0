// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quorate {

namespace {

constexpr double positive = std::numeric_limits<double>::min();

// Reads the numbers behind "name:", each of which must be at least as large as `lowest` says.
std::vector<double> arguments(const Settings& settings, const std::vector<double>& lowest)
{
    const auto& text = settings.text("schedule");
    const auto colon = text.find(':');
    std::vector<double> numbers;
    if (colon != std::string::npos)
        for (const auto& word : split(text.substr(colon + 1), ','))
            numbers.push_back(to_real(trimmed(word)).value_or(-1));
    bool good = numbers.size() == lowest.size();
    for (std::size_t i = 0; good && i < lowest.size(); ++i) good = numbers[i] >= lowest[i];
    if (!good) {
        const auto& entry = chosen(schedules(), settings, "schedule");
        settings.refuse("schedule", fmt::format(": write {}, {}", entry.form(), entry.text));
    }
    return numbers;
}

Schedule constant(const Settings& settings, double step, std::int64_t)
{
    arguments(settings, {});
    return [step](double) { return step; };
}

Schedule inverse(const Settings& settings, double step, std::int64_t)
{
    const auto given = arguments(settings, {positive});
    return [step, t0 = given[0]](double t) { return step * t0 / (t + t0); };
}

Schedule inverse_sqrt(const Settings& settings, double step, std::int64_t)
{
    const auto given = arguments(settings, {positive});
    return [step, t0 = given[0]](double t) { return step * std::sqrt(t0 / (t + t0)); };
}

Schedule geometric(const Settings& settings, double step, std::int64_t)
{
    const auto given = arguments(settings, {positive});
    return [step, r = given[0]](double t) { return step * std::pow(r, t); };
}

Schedule stepwise(const Settings& settings, double step, std::int64_t)
{
    const auto given = arguments(settings, {1, positive});
    return [step, every = given[0], factor = given[1]](double t) {
        return step * std::pow(factor, std::floor(t / every));
    };
}

Schedule linear(const Settings& settings, double step, std::int64_t rounds)
{
    const auto given = arguments(settings, {0});
    const auto last = static_cast<double>(std::max<std::int64_t>(1, rounds - 1));
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
        entry("linear", "END",
              "in a straight line from --step to END, after as many batches as there are rounds",
              linear),
    };
    return all;
}

}  // namespace quorate
