// SPDX-License-Identifier: BSD-2-Clause
#include "commands/slow_workers.hpp"

#include <algorithm>

#include "base/median.hpp"

namespace quorate {

namespace {

constexpr double kept = 1 - 1.0 / 50;

}  // namespace

void SlowWorkers::arrived(const trace::Arrival& row)
{
    auto& worker = all_.at(static_cast<std::size_t>(row.worker));
    if (row.used != 0 && row.part == 0) ++worker.used;
    const double seconds = row.arrived - row.sent;
    worker.seconds = worker.seconds == 0 ? seconds : kept * worker.seconds + (1 - kept) * seconds;
}

void SlowWorkers::round_over()
{
    for (auto& worker : all_) worker.used *= kept;
    rounds_ = kept * rounds_ + kept;
}

double SlowWorkers::used() const
{
    double sum = 0;
    for (const auto& worker : all_) sum += worker.used;
    return rounds_ > 0 ? sum / rounds_ : 0;
}

std::vector<int> SlowWorkers::slow() const
{
    std::vector<double> used, seconds;
    for (const auto& worker : all_) {
        used.push_back(worker.used);
        if (worker.seconds > 0) seconds.push_back(worker.seconds);
    }
    const double usual = median(used), time = median(seconds);
    std::vector<int> slow;
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].used < 0.5 * usual || all_[i].seconds > 1.5 * time)
            slow.push_back(static_cast<int>(i));
    std::ranges::stable_sort(slow, [&](int a, int b) {
        const auto &x = all_[static_cast<std::size_t>(a)], &y = all_[static_cast<std::size_t>(b)];
        return x.used != y.used ? x.used < y.used : x.seconds > y.seconds;
    });
    return slow;
}

}  // namespace quorate
