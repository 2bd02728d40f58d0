// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "scheme/scheme.hpp"
#include "straggler/delay.hpp"

namespace {

using namespace quorate;

std::unique_ptr<DelayModel> make(const std::string& spec, int machines, std::uint64_t seed = 0)
{
    Settings settings;
    settings.set("delay", {spec, "", true});
    return chosen(delays(), settings, "delay").make(settings, {.seed = seed, .machines = machines});
}

// Time of a round in which all compute nothing and worker i answers after its delay: feeds a scheme
// the arrivals in order and takes the one at which it steps.
double sum_of_rounds(const std::string& scheme_name, int d, int collect, int n, int rounds)
{
    Settings settings;
    settings.set("scheme", {scheme_name, "", true});
    for (const auto& option : chosen(schemes(), settings, "scheme").options)
        settings.set(option.name, {option.fallback, "", false});
    settings.set("stragglers", {std::to_string(d - 1), "", true});
    settings.set("collect", {std::to_string(collect), "", true});
    settings.set("rescale", {"coverage", "", true});
    const auto scheme = chosen(schemes(), settings, "scheme").make(settings, {n, 10 * n});
    const auto delays = make("erasurehead", n);
    std::vector<Action> actions;
    Start start;
    for (int i = 0; i < n; ++i) start.active.push_back(i);
    scheme->handle(start, 0, actions);
    double total = 0;
    ContributionId id = 0;
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::pair<double, TaskId>> order;
        std::vector<Worker> worker_of(static_cast<std::size_t>(n));
        TaskId first = -1;
        for (const auto& action : actions)
            if (const auto* task = std::get_if<Dispatch>(&action)) {
                if (first < 0) first = task->task;
                worker_of[static_cast<std::size_t>(task->task - first)] = task->worker;
                order.emplace_back(delays->draw(task->worker, task->draw, 0), task->task);
            }
        std::sort(order.begin(), order.end());
        actions.clear();
        for (const auto& [time, task] : order) {
            Contribution one{
                id++, worker_of[static_cast<std::size_t>(task - first)], task, 0, round, 10, round,
                round};
            scheme->handle(Arrived{{one}}, time, actions);
            if (!actions.empty()) {
                total += time;
                break;
            }
        }
        actions.clear();
        scheme->handle(Stepped{round + 1}, 0, actions);
    }
    return total;
}

TEST(EveryScheme, SumsOfRoundsUnderErasureHeadDelaysAreThoseOfTheTable)
{
    EXPECT_NEAR(sum_of_rounds("uncoded", 1, 30, 30, 100), 198.642, 5e-4);
    const std::map<int, std::vector<double>> table = {{2, {80.417, 9.019, 19.092, 32.309, 52.101}},
                                                      {3, {49.990, 9.019, 19.092, 31.521, 43.880}},
                                                      {5, {24.754, 9.019, 17.917, 22.792, 24.754}},
                                                      {6, {19.101, 9.019, 16.681, 18.582, 19.101}},
                                                      {10, {9.416, 7.609, 9.389, 9.416, 9.416}}};
    for (const auto& [d, sums] : table) {
        EXPECT_NEAR(sum_of_rounds("frc", d, 30, 30, 100), sums[0], 5e-4) << "d = " << d;
        for (int m = 1; m <= 4; ++m)
            EXPECT_NEAR(sum_of_rounds("agc", d, 5 * m, 30, 100), sums[static_cast<std::size_t>(m)],
                        5e-4)
                << "d = " << d << ", m = " << 5 * m;
    }
}

}  // namespace
