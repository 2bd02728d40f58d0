// SPDX-License-Identifier: BSD-2-Clause
#include "study/balanced_shares.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/median.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "run/training.hpp"

namespace quorate {

namespace {

constexpr double alike = 0.2;   // a difference of shares that is hardly told from chance
constexpr double merged = 0.1;  // workers whose shares differ by no more have the same one

// What a worker usually takes for the tasks of its partition.
struct Pace {
    double delay = 0, row_time = 0;  // seconds
    // How many rows it computes in so long; not less than one, because every partition has a row.
    double rows_in(double seconds) const { return std::max(1.0, (seconds - delay) / row_time); }
};

// Returns the usual value of each worker: the median of its own where three quarters of them are on
// one side of what is usual for all, and else that. Bursts and chance make no worker slow.
std::vector<double> usual(std::vector<std::vector<double>> values)
{
    std::vector<double> medians, found;
    for (auto& own : values) {
        std::ranges::sort(own);
        medians.push_back(median(own));
    }
    const double typical = median(medians);
    for (std::size_t worker = 0; worker < values.size(); ++worker) {
        const auto& own = values[worker];
        const auto quarter = own.size() / 4;
        const bool apart = own[quarter] > typical || own[own.size() - 1 - quarter] < typical;
        found.push_back(apart ? medians[worker] : typical);
    }
    return found;
}

// Simulates uncoded. @return the pace of each worker; none if rows take no time
std::vector<Pace> paces(const Settings& settings, std::int64_t rows)
{
    const auto workers = settings.integer("workers", 1);
    const auto rounds = std::clamp<std::int64_t>(1'000'000 / workers, 1, 100);
    Options values = {{"dry", "on"},
                      {"scheme", "uncoded"},
                      {"rows", std::to_string(rows)},
                      {"trace-arrivals", "all"},
                      {"rounds", std::to_string(rounds)}};
    for (const auto* name : {"workers", "row-time", "load-slope", "seed"})
        values.emplace(name, settings.text(name));
    for (const auto& one : delay_options) values.emplace(one.name, settings.text(one.name));
    const auto trace = simulate(make_settings(simulation_options(), values));
    std::vector<std::vector<double>> delays(static_cast<std::size_t>(workers)), times = delays;
    for (const auto& one : trace.arrivals) {
        const auto worker = static_cast<std::size_t>(one.worker);
        delays[worker].push_back(one.delay);
        times[worker].push_back(one.compute / static_cast<double>(one.samples));
    }
    const auto delay = usual(std::move(delays)), row_time = usual(std::move(times));
    std::vector<Pace> all;
    for (std::size_t worker = 0; worker < delay.size(); ++worker)
        all.push_back({delay[worker], row_time[worker]});
    const bool free = std::ranges::any_of(all, [](const Pace& one) { return !(one.row_time > 0); });
    return free ? std::vector<Pace>() : all;
}

}  // namespace

std::string balanced_shares(const Settings& settings, std::int64_t rows)
{
    const auto workers = paces(settings, rows);
    if (workers.empty()) return "";
    // The time in which all compute all rows, by bisection: in more time they compute more.
    double low = 0, high = 0;
    for (const auto& one : workers)
        high = std::max(high, one.delay + one.row_time * static_cast<double>(rows));
    constexpr int halvings = 60;
    for (int i = 0; i < halvings; ++i) {
        const double time = 0.5 * (low + high);
        double sum = 0;
        for (const auto& one : workers) sum += one.rows_in(time);
        (sum < static_cast<double>(rows) ? low : high) = time;
    }
    std::vector<double> wanted;
    for (const auto& one : workers) wanted.push_back(one.rows_in(high));
    const double common = median(wanted);
    std::vector<std::size_t> order;
    for (std::size_t worker = 0; worker < wanted.size(); ++worker)
        if (std::abs(wanted[worker] / common - 1) > alike) order.push_back(worker);
    std::ranges::stable_sort(order, {}, [&](auto worker) { return wanted[worker]; });
    std::string shares;
    for (auto first = order.begin(); first != order.end();) {
        const double least = wanted[*first];
        const auto last = std::find_if(
            first, order.end(), [&](auto worker) { return wanted[worker] > (1 + merged) * least; });
        std::sort(first, last);
        double sum = 0;
        for (auto at = first; at != last; ++at) sum += wanted[*at];
        shares += fmt::format("{}{:.2g},{}", shares.empty() ? "" : "/",
                              sum / static_cast<double>(last - first) / common,
                              fmt::join(first, last, ","));
        first = last;
    }
    return shares;
}

}  // namespace quorate
