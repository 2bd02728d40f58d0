// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/newest/task_allocation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace quorate {

std::vector<int> least_longest(int tasks, std::span<const double> seconds)
{
    std::vector<int> allocated(seconds.size());
    using Next = std::pair<double, std::size_t>;  // (a_i + 1) s_i, i
    std::vector<Next> all;
    for (std::size_t i = 0; i < seconds.size(); ++i) all.emplace_back(seconds[i], i);
    std::priority_queue next(std::greater<Next>(), std::move(all));
    for (int task = 0; task < tasks; ++task) {
        const auto i = next.top().second;
        next.pop();
        next.emplace((++allocated[i] + 1) * seconds[i], i);
    }
    return allocated;
}

std::vector<int> allocation(int tasks, std::span<const TaskTimes> times, double exploration,
                            std::int64_t round)
{
    const auto k = static_cast<double>(round);
    std::vector<double> bounds;
    std::vector<std::size_t> unsure;
    for (const auto& [mean, done] : times) {
        const double x = std::log(2 * k * k) / static_cast<double>(std::max<std::int64_t>(1, done));
        bounds.push_back(mean * (1 - exploration * (std::sqrt(x) + x)));
        // A mean of 0 says nothing either: no task takes no time.
        if (done == 0 || bounds.back() <= 0) unsure.push_back(bounds.size() - 1);
    }
    if (unsure.empty()) return least_longest(tasks, bounds);
    std::ranges::stable_sort(unsure, {}, [&](std::size_t i) { return times[i].tasks; });
    std::vector<int> allocated(times.size());
    for (int task = 0; task < tasks; ++task)
        ++allocated[unsure[static_cast<std::size_t>(task) % unsure.size()]];
    return allocated;
}

}  // namespace quorate
