// SPDX-License-Identifier: BSD-2-Clause
// quorate advise: simulates schemes with different redundancy, and ranks them by time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "driver/advice.hpp"
#include "driver/launch.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;

// Whether these simulations do not tell a candidate from the first: the mean difference is at most
// two standard errors. Differences are taken seed by seed, because all candidates had the same
// delays.
bool is_like_the_first(const Prediction& one, const Prediction& first)
{
    std::vector<double> apart;
    for (std::size_t i = 0; i < one.seconds.size(); ++i)
        apart.push_back(one.seconds[i] - first.seconds[i]);
    return one.mean() - first.mean() <= 2 * standard_error(apart);
}

std::string command_of(const Prediction& best, const Settings& settings)
{
    std::string line = fmt::format("quorate run --scheme {}", best.candidate.text());
    if (settings.on("data")) line += " --data " + settings.text("data");
    for (const auto* name : {"model", "optimizer", "step", "schedule", "batch", "l2", "rounds"})
        if (settings.given(name)) line += fmt::format(" --{} {}", name, settings.text(name));
    return fmt::format("{} --trace FILE      # {} ranks", line, settings.integer("workers", 1) + 1);
}

void print_table(const std::vector<Prediction>& all, const std::vector<int>& won,
                 const Settings& settings, int seeds)
{
    const auto shown = std::min(all.size(), static_cast<std::size_t>(settings.integer("show", 1)));
    std::size_t width = 6;
    for (std::size_t i = 0; i < shown; ++i) width = std::max(width, all[i].candidate.text().size());
    fmt::print("{:>4} {:<{}} {:>18} {:>10} {:>8} {:>12} {:>7}\n", "", "scheme", width,
               "seconds to target", "s a round", "rounds", "closed form", "fastest");
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& one = all[i];
        fmt::print("{:>3}{} {:<{}} {:>9.4g} +- {:<5.2g} {:>10.4g} {:>8.4g} {:>12} {:>3} of {}\n",
                   i + 1, i > 0 && is_like_the_first(one, all[0]) ? '~' : ' ', one.candidate.text(),
                   width, one.mean(), standard_error(one.seconds), one.round_seconds, one.rounds,
                   one.closed ? fmt::format("{:.4g}", *one.closed) : "-", won[i], seeds);
    }
    if (!settings.given("row-time") && !settings.text("delay").starts_with("trace"))
        fmt::print("rows take no time, so redundancy costs nothing: give --row-time\n");
    if (settings.on("measured"))
        fmt::print("latency {} s; workers, row times and slowdowns as in {}, where not given\n",
                   settings.text("latency"), settings.text("measured"));
    fmt::print("{} candidates; ~: not told from the first by {} simulations each\n", all.size(),
               seeds);
    fmt::print("{}\n", command_of(all[0], settings));
}

Json as_json(const std::vector<Prediction>& all, const std::vector<int>& won)
{
    Json json = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& one = all[i];
        const bool reached = std::isfinite(one.mean());
        json.push_back({{"scheme", one.candidate.text()},
                        {"seconds", reached ? Json(one.mean()) : Json(nullptr)},
                        {"error", standard_error(one.seconds)},
                        {"round_seconds", one.round_seconds},
                        {"rounds", reached ? Json(one.rounds) : Json(nullptr)},
                        {"closed_form", one.closed ? Json(*one.closed) : Json(nullptr)},
                        {"fastest", won[i]}});
    }
    return json;
}

std::vector<Option> options()
{
    auto all = advice_options();
    all.push_back({"show", "N", "10", "lines of the table"});
    all.push_back({"json", "", "", "print all candidates as JSON"});
    return all;
}

int print_advice(const Settings& given)
{
    refuse_launcher("advise");
    const auto advice = advise(given);
    if (given.on("json"))
        fmt::print("{}\n", as_json(advice.ranked, advice.fastest).dump(2));
    else
        print_table(advice.ranked, advice.fastest, advice.settings, advice.seeds);
    return exit_done;
}
}  // namespace

Command advise_command()
{
    return {"advise",
            "ranks schemes and their redundancy by the time that simulations take to a target", "",
            options(), print_advice};
}

}  // namespace quorate
