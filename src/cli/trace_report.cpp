// SPDX-License-Identifier: BSD-2-Clause
#include "cli/trace_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "commands/summary.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::ptrdiff_t most_lines = 15;

std::string outcome_of(const trace::Trace& trace)
{
    const auto rounds = std::ssize(trace.rounds);
    auto text = trace.status();
    const auto wanted = trace.text("rounds");
    if (trace.status() != "completed" || std::to_string(rounds) != wanted)
        text += fmt::format(" after {} of {} rounds", rounds, wanted);
    if (rounds == 0) return text;
    const double time = trace.rounds.back().time;
    if (trace.status() == "completed" && std::to_string(rounds) == wanted)
        text += fmt::format(": {} rounds", rounds);
    return text + fmt::format(" in {} ({} clock), {} a round", short_time(time),
                              trace.text("clock"), short_time(time / static_cast<double>(rounds)));
}

// Returns the scores of the last model; else what the rounds say of the loss.
std::string scores_of(const trace::Trace& trace)
{
    if (trace.evaluations.empty()) {
        if (trace.rounds.empty() || trace.text("model").empty()) return "";
        return fmt::format("training loss about {:.4g}: an estimate, no model was scored",
                           trace.rounds.back().loss_estimate);
    }
    const auto& last = trace.evaluations.back();
    auto text = fmt::format("training loss {:.4g}", last.train_loss);
    const auto add = [&](const char* name, double value) {
        if (std::isfinite(value)) text += fmt::format(", {} {:.4g}", name, value);
    };
    add("test loss", last.test_loss);
    add("accuracy", last.accuracy);
    add("AUC", last.auc);
    add("mean squared error", last.mse);
    if (last.round != std::ssize(trace.rounds)) text += fmt::format(", after round {}", last.round);
    return text;
}

// Returns how far the objective is from the optimum, if that is known.
std::string gap_of(const Json& facts)
{
    if (!facts.contains("optimum")) return "";
    auto text = fmt::format("{:.4g} above", facts["optimum"]["last_gap"].get<double>());
    std::string nearest;
    for (const auto& [digits, reached] : facts["gap_reached"].items())
        if (!reached.is_null())
            nearest = fmt::format("; within {} of it after {} rounds, {}", digits,
                                  reached["round"].get<std::int64_t>(),
                                  short_time(reached["time"].get<double>()));
    return text + nearest;
}

std::string answers_of(const trace::Trace& trace, const Json& facts)
{
    const auto number = [&](const char* name) { return facts[name].get<double>(); };
    auto text = fmt::format("{:.4g} of {} workers used in a round", number("used_per_round"),
                            trace.text("workers"));
    if (const double error = number("decode_error_mean"); error > 0)
        text += fmt::format(", decode error {:.4g}", error);
    return text + fmt::format("; {} kB out, {} kB in",
                              figures(number("bytes_sent_per_round") / 1000, 4),
                              figures(number("bytes_received_per_round") / 1000, 4));
}

// Returns how old the gradients were, and how far apart the points of the updates (R).
std::string age_of(const Json& facts)
{
    const auto oldest = facts["staleness_max"].get<std::int64_t>();
    std::string text;
    if (oldest > 0)
        text = fmt::format("gradients of {:.4g} updates before on average, {} at most",
                           facts["staleness_mean"].get<double>(), oldest);
    if (!facts.contains("distance")) return text;
    if (!text.empty()) text += "; ";
    text += fmt::format("distance R at most {}", facts["distance"].get<std::int64_t>());
    if (facts.contains("distance_bound"))
        text += fmt::format(", by the scheme {}", facts["distance_bound"].get<std::int64_t>());
    return text;
}

// Returns how many samples a second took part, and what workers did with their time.
std::string speed_of(const Json& facts)
{
    if (!facts.contains("samples_per_second")) return "";
    const auto number = [&](const char* name) { return facts[name].get<double>(); };
    auto text = figures(number("samples_per_second"), 4) + " samples/s used";
    if (!facts.contains("computing_share")) return text;
    const double computing = 100 * number("computing_share"), delay = 100 * number("delay_share");
    text += fmt::format(", {} answered; workers compute {:.3g}% of the time, ",
                        figures(number("samples_answered_per_second"), 4), computing);
    if (delay > 0) text += fmt::format("sleep {:.3g}%, ", delay);
    return text + fmt::format("wait, send or do what is not used {:.3g}%",
                              std::max(0.0, 100 - computing - delay));
}

std::string changes_of(const Json& facts)
{
    std::string text;
    for (const auto& [name, word] : {std::pair("workers_died", "died"),
                                     {"workers_left", "left"},
                                     {"workers_joined", "joined"}})
        if (const auto count = facts[name].get<std::int64_t>(); count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
    if (const auto count = facts["reencoded"].get<std::int64_t>(); count > 0)
        text +=
            fmt::format("; re-encoded {}", count == 1 ? "once" : fmt::format("{} times", count));
    return text;
}

// Returns what the run lost because it went back to a checkpoint, and why it did so last.
std::string lost_of(const trace::Trace& trace, const Json& facts)
{
    if (trace.lost.empty()) return "";
    double seconds = 0;
    for (const auto& one : trace.lost) seconds += one.seconds;
    const auto times = trace.lost.size();
    const auto& last = trace.lost.back();
    return fmt::format("{} rounds, {}: the run went back {}to round {} ({})",
                       facts["rounds_lost"].get<std::int64_t>(), short_time(seconds),
                       times == 1 ? "" : fmt::format("{} times, the last time ", times),
                       last.first - 1, last.why);
}

std::string origin_of(const trace::Trace& trace)
{
    auto text =
        fmt::format("quorate {} ({})", trace.text("quorate_version"), trace.text("git_revision"));
    if (!trace.text("host").empty()) text += " on " + trace.text("host");
    if (!trace.text("scheduler_job_id").empty()) text += ", job " + trace.text("scheduler_job_id");
    return text;
}

}  // namespace

std::string trace_report(const trace::Trace& trace, const std::string& path, const Json& facts)
{
    std::vector<std::string> parts = {summary_lines("run", outcome_of(trace))};
    const auto add = [&](const char* word, const std::string& text) {
        if (!text.empty()) parts.push_back(summary_lines(word, text));
    };
    add("result", scores_of(trace));
    add("optimum", gap_of(facts));
    add("faults",
        facts["faults"].empty() ? "" : fmt::format("{}, see below", facts["faults"].size()));
    add("workers", changes_of(facts));
    add("lost", lost_of(trace, facts));
    for (auto& part : summary(trace)) parts.push_back(std::move(part));
    if (!trace.rounds.empty()) add("answers", answers_of(trace, facts));
    add("age", age_of(facts));
    add("speed", speed_of(facts));
    add("made by", origin_of(trace));
    const auto end = summary_lines("more", "quorate inspect --all " + path);
    const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
    std::string report;
    for (const auto& part : parts)
        if (lines(report) + lines(part) + lines(end) <= most_lines) report += part;
    return report + end;
}

}  // namespace quorate
