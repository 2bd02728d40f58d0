// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace quorate {

namespace {

// A number of batches; with an e behind it, of epochs. Nothing: the word is none of at least 0.
std::optional<BatchCount> count_of(const std::string& word)
{
    const bool epochs = word.ends_with('e');
    const auto count = to_real(word.substr(0, word.size() - epochs));
    if (!count || !(*count >= 0)) return std::nullopt;
    return BatchCount{*count, epochs};
}

}  // namespace

void read_argument(BatchCount& count, const GivenArgument& given)
{
    const auto read = count_of(trimmed(given.words.front()));
    if (!read || read->count == 0) given.component.refuse();
    count = *read;
}

std::string written_argument(const BatchCount& count, const Bounds&)
{
    return fmt::format("{}{}", count.count, count.epochs ? "e" : "");
}

void read_argument(std::vector<ListSchedule::Place>& places, const GivenArgument& given)
{
    places.clear();
    for (const auto& word : given.words) {
        const auto parts = split(word, '=');
        if (parts.size() != 2) given.component.refuse();
        ListSchedule::Place place;
        read_argument(place.from, {given.component, "T", {parts[0]}});
        read_argument(place.factor,
                      {given.component, "FACTOR", {parts[1]}, {.lowest = above_zero}});
        places.push_back(place);
    }
}

std::string written_argument(const std::vector<ListSchedule::Place>& places, const Bounds& bounds)
{
    std::string words;
    for (const auto& [from, factor] : places)
        words += fmt::format("{}{}={}", words.empty() ? "" : ",", written_argument(from, bounds),
                             factor);
    return words;
}

ScheduleEntry<ConstantSchedule> ConstantSchedule::entry()
{
    return {.name = "constant",
            .text = "the same step all the time",
            .source = "textbook",
            .make = [](const ConstantSchedule&, double step, const Span&) {
                return [step](double) { return step; };
            }};
}

ScheduleEntry<InverseSchedule> InverseSchedule::entry()
{
    return {.name = "inverse",
            .arguments = {{&InverseSchedule::t0, "T0"}},
            .text = "step T0 / (t + T0) after t batches",
            .source = "textbook",
            .make = [](const InverseSchedule& given, double step, const Span& span) {
                return
                    [step, t0 = given.t0.batches(span)](double t) { return step * t0 / (t + t0); };
            }};
}

ScheduleEntry<InverseSqrtSchedule> InverseSqrtSchedule::entry()
{
    return {.name = "inverse-sqrt",
            .arguments = {{&InverseSqrtSchedule::t0, "T0"}},
            .text = "step sqrt(T0 / (t + T0)) after t batches",
            .source = "textbook",
            .make = [](const InverseSqrtSchedule& given, double step, const Span& span) {
                return [step, t0 = given.t0.batches(span)](double t) {
                    return step * std::sqrt(t0 / (t + t0));
                };
            }};
}

ScheduleEntry<GeometricSchedule> GeometricSchedule::entry()
{
    return {.name = "geometric",
            .arguments = {{&GeometricSchedule::ratio, "R", {.lowest = above_zero}}},
            .text = "step R^t after t batches",
            .source = "textbook",
            .make = [](const GeometricSchedule& given, double step, const Span&) {
                return [step, r = given.ratio](double t) { return step * std::pow(r, t); };
            }};
}

ScheduleEntry<StepSchedule> StepSchedule::entry()
{
    return {.name = "step",
            .arguments = {{&StepSchedule::every, "EVERY"},
                          {&StepSchedule::factor, "FACTOR", {.lowest = above_zero}}},
            .text = "multiplied with FACTOR after EVERY batches",
            .source = "textbook",
            .make = [](const StepSchedule& given, double step, const Span& span) {
                const auto every = given.every.batches(span);
                if (every < 1) throw Refusal("EVERY", ", but that is less than a batch");
                return [step, every, factor = given.factor](double t) {
                    return step * std::pow(factor, std::floor(t / every));
                };
            }};
}

ScheduleEntry<ListSchedule> ListSchedule::entry()
{
    return {.name = "list",
            .arguments = {{&ListSchedule::places, "T=FACTOR,..."}},
            .text = "FACTOR times --step from T batches on, T ascending: list:30e=0.1,60e=0.01",
            .source = "textbook",
            .make = [](const ListSchedule& given, double step, const Span& span) {
                std::vector<std::pair<double, double>> places;  // batches, and the step from there
                for (const auto& [from, factor] : given.places) {
                    const auto begin = from.batches(span);
                    if (!places.empty() && begin <= places.back().first) throw Refusal("T", "");
                    places.emplace_back(begin, step * factor);
                }
                return [step, places](double t) {
                    const auto next =
                        std::ranges::upper_bound(places, t, {}, &std::pair<double, double>::first);
                    return next == places.begin() ? step : std::prev(next)->second;
                };
            }};
}

ScheduleEntry<LinearSchedule> LinearSchedule::entry()
{
    return {
        .name = "linear",
        .arguments = {{&LinearSchedule::end, "END"}},
        .text = "in a straight line from --step to END, after as many batches as there are rounds",
        .source = "textbook",
        .make = [](const LinearSchedule& given, double step, const Span& span) {
            const auto last = static_cast<double>(std::max<std::int64_t>(1, span.rounds - 1));
            return [step, end = given.end, last](double t) {
                return step + (end - step) * std::min(1.0, t / last);
            };
        }};
}

GivenComponent PropertiesOf<MakeSchedule>::given(const Settings& settings, const std::string& form,
                                                 const std::string& text, double, const Span&)
{
    return {.settings = settings, .option = option, .form = form + ", " + text};
}

const std::vector<Entry<MakeSchedule>>& schedules()
{
    static const auto all =
        entries_of<MakeSchedule, ConstantSchedule, InverseSchedule, InverseSqrtSchedule,
                   GeometricSchedule, StepSchedule, ListSchedule, LinearSchedule>();
    return all;
}

Schedule schedule_of(const Settings& settings, double step, const Span& span)
{
    auto schedule = chosen(schedules(), settings, "schedule").make(settings, step, span);
    const auto warmup = count_of(settings.text("warmup"));
    if (!warmup) settings.refuse("warmup", ": write a number of batches, or of epochs as 5e");
    if (warmup->count == 0) return schedule;
    return [schedule, last = warmup->batches(span)](double t) {
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
