// SPDX-License-Identifier: BSD-2-Clause
// quorate advise: simulates schemes with different redundancy, and ranks them by time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "commands/progress.hpp"
#include "process/session.hpp"
#include "study/advice.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;

std::string command_of(const CandidateTimes& best, const Settings& settings)
{
    std::string line = fmt::format("quorate run --scheme {}", best.candidate.text());
    if (settings.on("data")) line += " --data " + settings.text("data");
    for (const auto* name : {"model", "optimizer", "step", "schedule", "warmup", "batch", "l2"})
        if (settings.given(name) &&
            !std::ranges::count(best.candidate.options, name, &Choice::value_type::first))
            line += fmt::format(" --{} {}", name, settings.text(name));
    if (settings.given("rounds"))
        line += fmt::format(" --rounds {}", settings.integer("rounds", 1) * best.candidate.updates);
    const auto nodes = settings.integer("nodes", 1);
    if (nodes > 1 && (!best.candidate.way.empty() || settings.given("aggregate")))
        line += " --aggregate " + best.way;
    line += fmt::format(" --trace FILE      # {} ranks", settings.integer("workers", 1) + 1);
    return nodes > 1 ? fmt::format("{} on {} hosts", line, nodes) : line;
}

// Returns a line about the column +-.
std::string about_intervals(const Advice& advice)
{
    if (advice.certain) return "no intervals: nothing is random, all seeds give the same times";
    if (advice.seeds < 2) return "no intervals: one simulation each";
    return fmt::format(
        "+-: 95 % interval of the mean by Student's t over {} seeds; *: the best; ~: not told from "
        "it",
        advice.seeds);
}

// Returns the candidates that the simulations do not tell from the best one, and may be recommended
// as well.
std::vector<std::string> undecided(const Advice& advice)
{
    std::vector<std::string> names;
    for (const auto& one : advice.ranked)
        if (advice.like_the_best(one) && advice.doubt(one).empty())
            names.push_back(one.candidate.text());
    return names;
}

// Returns what is to be said of the best candidate and those beside it.
std::vector<std::string> remarks(const Advice& advice)
{
    std::vector<std::string> lines;
    const auto& best = advice.ranked[advice.best];
    if (auto others = undecided(advice); !others.empty()) {
        constexpr std::size_t named = 4;
        const auto more =
            others.size() > named ? fmt::format(" and {} more", others.size() - named) : "";
        others.resize(std::min(named, others.size()));
        lines.push_back(fmt::format("undecided between {} and {}{}: more --repeat may tell",
                                    best.candidate.text(), fmt::join(others, ", "), more));
    }
    std::set<bool> told;  // of those faster that leave out rows, and of the others
    for (const auto& one : std::span(advice.ranked).first(advice.best))
        if (told.insert(one.use && one.use->rarely > 0).second)
            lines.push_back(fmt::format("not recommended: {}, which takes {:.2g} times as long: {}",
                                        one.candidate.text(), one.mean() / best.mean(),
                                        advice.doubt(one)));
    if (const auto doubt = advice.doubt(best); !doubt.empty())
        lines.push_back(fmt::format("warning: with {} {}", best.candidate.text(), doubt));
    return lines;
}

void print_table(const Advice& advice)
{
    const auto& all = advice.ranked;
    const auto& settings = advice.settings;
    const auto shown = std::min(all.size(), static_cast<std::size_t>(settings.integer("show", 1)));
    const bool hosts = settings.integer("nodes", 1) > 1;
    std::vector<Cells> lines = {
        {"", "scheme", "seconds", "+-", "s/round", "rounds", "closed", "least", "fastest"}};
    if (hosts) lines[0].emplace_back("added up");
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& one = all[i];
        const auto half = advice.half_interval(one);
        const bool whole = std::ssize(one.seconds) == advice.seeds;
        const char mark = i == advice.best             ? '*'
                          : !advice.doubt(one).empty() ? '!'
                          : advice.like_the_best(one)  ? '~'
                                                       : ' ';
        lines.push_back({fmt::format("{}{}", i + 1, mark), one.candidate.text(),
                         fmt::format("{:.4g}", one.mean()), half ? figures(*half, 2) : "-",
                         fmt::format("{:.4g}", one.round_seconds),
                         fmt::format("{:.4g}", one.rounds),
                         one.closed ? figures(*one.closed, 4) : "-",
                         one.use ? fmt::format("{:.2g}", std::max(0.0, one.use->least)) : "-",
                         whole ? fmt::format("{} of {}", advice.fastest[i], advice.seeds)
                               : fmt::format("out at {}", one.seconds.size())});
        if (hosts) lines.back().push_back(one.way);
    }
    fmt::print("{}", table(lines, hosts ? "rlrrrrrrrl" : "rlrrrrrrr"));
    fmt::print("{} candidates by seconds to the target, {} simulations in {:.3g} s\n", all.size(),
               advice.simulations, advice.took);
    const auto tell = [](const std::string& text) { fmt::print("{}\n", wrapped(text, 80, 2)); };
    tell(
        "closed: s/round by closed form; least: weight of the row that counts least, over the "
        "mean");
    if (advice.ways)
        tell(fmt::format("added up: --aggregate, for each the fastest in simulations of {} rounds",
                         rounds_of_ways));
    tell(about_intervals(advice));
    for (const auto& line : remarks(advice)) tell(line);
    if (!settings.given("row-time") && !settings.text("delay").starts_with("trace"))
        tell("rows take no time, so redundancy costs nothing: give --row-time");
    if (hosts && !settings.on("bandwidth"))
        tell("messages take no time, so all ways of adding up are alike: give --bandwidth");
    else if (hosts && !settings.on("data") && !settings.on("columns"))
        tell("messages are empty, so all ways of adding up are alike: give --columns");
    if (!advice.data_only.empty())
        tell(fmt::format("with --data only: {}", fmt::join(advice.data_only, ", ")));
    if (settings.on("measured"))
        fmt::print("latency {:g} s; workers, row times and slowdowns as in {}, where not given\n",
                   settings.seconds("latency"), settings.text("measured"));
    fmt::print("{}\n", command_of(all[advice.best], settings));
}

Json as_json(const Advice& advice)
{
    Json json = Json::array();
    for (std::size_t i = 0; i < advice.ranked.size(); ++i) {
        const auto& one = advice.ranked[i];
        const bool reached = std::isfinite(one.mean());
        json.push_back({{"scheme", one.candidate.text()},
                        {"seconds", json_number<Json>(one.mean())},
                        {"half_interval", json_number<Json>(advice.half_interval(one))},
                        {"simulations", one.seconds.size()},
                        {"round_seconds", one.round_seconds},
                        {"updates_per_round", one.candidate.updates},
                        {"rounds", reached ? Json(one.rounds) : Json(nullptr)},
                        {"closed_form", json_number<Json>(one.closed)},
                        {"fastest", advice.fastest[i]},
                        {"least_row_weight", one.use ? Json(one.use->least) : Json(nullptr)},
                        {"rows_left_out", one.use ? Json(one.use->rarely) : Json(nullptr)},
                        {"recommended", i == advice.best}});
        if (advice.settings.integer("nodes", 1) > 1) json.back()["aggregate"] = one.way;
    }
    return json;
}

std::vector<Option> advise_options()
{
    auto all = advice_options();
    all.push_back({"show", "N", "10", "lines of the table"});
    all.push_back({"json", "", "", "print all candidates as JSON"});
    return all;
}

int print_advice(const Settings& given)
{
    if (given.on("data")) start_mpi();  // PETSc holds the rows from which the step follows
    WorkProgress progress(given.on("quiet"));
    const auto advice = advise(given, [&](auto done, auto all) {
        progress.show([&](Seconds passed) {
            return fmt::format(
                "{} of {} simulations  {:.0f} s  {:.0f} s left at most", done, all, passed,
                passed * static_cast<double>(all - done) / static_cast<double>(done));
        });
    });
    progress.finish();
    if (given.on("json"))
        fmt::print("{}\n", json_text(as_json(advice)));
    else
        print_table(advice);
    return exit_done;
}
}  // namespace

Command advise_command()
{
    return {
        .name = "advise",
        .text = "ranks schemes and their redundancy by the time that simulations take to a target",
        .options = advise_options(),
        .run = print_advice,
        .first = {"workers", "measured", "delay", "row-time", "data", "model", "rounds",
                  "target-loss", "schemes", "repeat"},
        .examples = {"quorate advise --workers 8 --delay exponential:0.05 --row-time 1e-5",
                     "quorate advise --measured uncoded.h5 --data data.h5 "
                     "--schemes frc,agc,ignore"}};
}

}  // namespace quorate
