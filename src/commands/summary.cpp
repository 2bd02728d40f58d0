// SPDX-License-Identifier: BSD-2-Clause
#include "commands/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/median.hpp"
#include "base/text.hpp"
#include "parts/components.hpp"
#include "run/recorded.hpp"
#include "trace/round_times.hpp"

namespace quorate {

namespace {

constexpr std::size_t width = 80, text_at = 10;

// Returns a component with its options: "agc --stragglers 1 --collect 4".
// @param defaults  whether those that have their default are named
std::string with_options(const std::string& kind, const std::string& value, bool defaults,
                         const std::map<std::string, std::string>& options)
{
    auto words = value;
    for (const auto& [option, plural, all] : run_components()) {
        const auto at = std::ranges::find(all, value, &Component::name);
        if (option != kind || at == all.end()) continue;
        for (const auto& own : at->options) {
            const auto chosen = options.find(own.name);
            if (chosen == options.end() || chosen->second.empty()) continue;
            if (defaults || chosen->second != own.fallback)
                words += fmt::format(" --{} {}", own.name, chosen->second);
        }
    }
    return words;
}

std::string setting_of(const trace::Trace& trace)
{
    const auto options = recorded_options(trace.text("config"));
    const auto option = [&](const char* name) {
        const auto at = options.find(name);
        return at == options.end() ? std::string() : at->second;
    };
    auto text = with_options("scheme", trace.text("scheme"), true, options);
    text += fmt::format(", {} workers", trace.text("workers"));
    for (const auto& [name, model] : recorded_delays(trace))
        text += fmt::format(", {} {}", name, model);
    text += fmt::format(", seed {}", trace.text("seed"));
    if (trace.text("model").empty()) return text + "; times only";
    text +=
        fmt::format("; {}, {}, step {}", with_options("model", trace.text("model"), false, options),
                    with_options("optimizer", trace.text("optimizer"), false, options),
                    brief_number(option("step")));
    return text + fmt::format("; {}, {} x {}", trace.text("data"), trace.text("rows"),
                              trace.text("columns"));
}

std::string waiting_text(const trace::Trace& trace)
{
    const auto waiting = waiting_of(trace);
    const double time = trace.rounds.back().time;
    if (time <= 0 || waiting.all <= 0) return "";
    auto text = fmt::format("{:.3g}% of the time", 100 * waiting.all / time);
    const double known = waiting.delay + waiting.computing + waiting.message;
    if (known <= 0) return text;
    const char* separator = ": ";
    const auto add = [&](const char* what, double part) {
        const double share = 100 * part / waiting.all;
        if (share < 0.05) return;
        text += fmt::format("{}{} {:.3g}%", separator, what, share);
        separator = ", ";
    };
    add("for delays", waiting.delay);
    add("computing", waiting.computing);
    add("messages", waiting.message);
    add("other", waiting.all - known);
    return text;
}

// Returns the name of a worker, with its host if there are several.
std::string name_of(const trace::Trace& trace, std::int64_t worker)
{
    const auto hosts = split(trace.text("nodes"), ' ');
    const auto node = worker < std::ssize(trace.workers)
                          ? trace.workers[static_cast<std::size_t>(worker)].node
                          : -1;
    if (hosts.size() < 2 || node < 0 || node >= std::ssize(hosts))
        return fmt::format("worker {}", worker);
    return fmt::format("worker {} on {}", worker, hosts[static_cast<std::size_t>(node)]);
}

std::string slowest_text(const trace::Trace& trace)
{
    const auto times = response_times(trace);
    const auto& all = times.slowest_first;
    if (all.size() < 2) return "";
    std::vector<double> means;
    for (const auto& one : all) means.push_back(one.mean);
    const double middle = median(std::move(means));
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i) {
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", name_of(trace, all[i].worker),
                            short_time(all[i].mean));
        if (times.in_rounds && all[i].answered < std::ssize(trace.rounds))
            text += fmt::format(" (late in {} of {})", std::ssize(trace.rounds) - all[i].answered,
                                std::ssize(trace.rounds));
    }
    return text + fmt::format("; median {}, to {}", short_time(middle),
                              times.in_rounds ? "the answer or the end of a round" : "the answer");
}

std::string better_text(const trace::Trace& trace)
{
    const auto saving = saving_of(trace);
    if (!saving) return "";
    const auto n = std::ssize(trace.workers);
    const auto s = saving->stragglers;
    const double time = trace.rounds.back().time;
    const auto in_place_of = fmt::format(" in place of {}", short_time(time));
    return fmt::format(
        "{}{}{} with {} of {} answers a round and {} times the computing, as a code "
        "for {} needs; {} with no more computing (ignore --stragglers {}); by the "
        "times of these answers",
        saving->coded < time ? "" : "no code: ", short_time(saving->coded),
        saving->coded < time ? in_place_of : "", n - s, n, s + 1,
        s == 1 ? "1 straggler" : fmt::format("{} stragglers", s), short_time(saving->ignoring), s);
}

}  // namespace

std::string short_time(double seconds)
{
    return seconds < 1 ? figures(1000 * seconds, 4) + " ms" : figures(seconds, 4) + " s";
}

std::string summary_lines(const std::string& word, const std::string& text)
{
    return fmt::format("{:<{}}{}\n", word, text_at, wrapped(text, width - text_at, text_at));
}

std::vector<std::string> summary(const trace::Trace& trace)
{
    std::vector<std::string> lines = {summary_lines("setting", setting_of(trace))};
    if (trace.rounds.empty()) return lines;
    const auto add = [&](const char* word, const std::string& text) {
        if (!text.empty()) lines.push_back(summary_lines(word, text));
    };
    add("waiting", waiting_text(trace));
    add("slowest", slowest_text(trace));
    add("better", better_text(trace));
    return lines;
}

}  // namespace quorate
