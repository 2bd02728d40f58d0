// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/products/elastic_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheme/options.hpp"

namespace quorate {

int needed_machines(const ElasticOptions& given, const Problem& problem)
{
    const int n = problem.workers;
    if (problem.batch > 0)
        throw Refusal("batch",
                      ", but coded products are over all rows: leave it out with this scheme");
    const int needed = given.needed.value_or((n + 1) / 2);
    at_most("needed", needed, n);
    at_most("slack", given.slack, n);
    if (needed + given.slack > n)
        throw Refusal("slack", fmt::format(", but {} workers are no more than --needed {} and the "
                                           "stragglers: use at most {}, or more workers",
                                           n, needed, n - needed));
    if (needed > problem.rows)
        throw Refusal("needed", fmt::format(", more than the {} training rows", problem.rows));
    if (given.storage == ElasticOptions::Storage::two && needed > problem.columns)
        throw Refusal(
            "storage",
            fmt::format(
                ", which codes columns, but {} (--needed) are more than the {} of the data: "
                "use --storage one, or give a dry run its --columns",
                needed, problem.columns));
    return needed;
}

Division::Division(Strategy strategy, int needed, int copies, std::int64_t rows, int most)
    : strategy_(strategy), needed_(needed), copies_(copies), rows_(rows), most_(most),
      row_seconds_(most)
{
}

void Division::measure(int machine, std::int64_t rows, Seconds compute)
{
    constexpr double smoothing = 0.5;
    if (rows == 0 || compute <= 0) return;
    auto& known = row_seconds_[machine];
    const double now = compute / static_cast<double>(rows);
    known = known == 0 ? now : smoothing * now + (1 - smoothing) * known;
}

// A machine whose speed is not known yet counts as the mean of the others.
std::vector<double> Division::speeds(const std::vector<int>& machines) const
{
    double sum = 0;
    int known = 0;
    for (const int machine : machines)
        if (const auto seconds = row_seconds_[machine]; seconds > 0) {
            sum += 1 / seconds;
            ++known;
        }
    std::vector<double> all;
    for (const int machine : machines) {
        const auto seconds = row_seconds_[machine];
        all.push_back(seconds > 0 ? 1 / seconds : known > 0 ? sum / known : 1);
    }
    return all;
}

int Division::copies(std::size_t machines) const
{
    return std::min(copies_, static_cast<int>(machines));
}

// Whether sharing out anew by speeds would shorten the computation by about a twentieth or more.
bool Division::unbalanced() const
{
    if (strategy_ != Strategy::speeds) return false;
    const auto speed = speeds(machines_);
    const auto best = loads_by_speed(speed, copies(machines_.size()));
    double longest = 0, least = 0;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        longest = std::max(longest, static_cast<double>(rows_of(shares_, machines_[i])) / speed[i]);
        least = std::max(least, best[i] * static_cast<double>(rows_) / speed[i]);
    }
    return longest > 1.05 * least;
}

std::int64_t Division::share_out(const std::vector<int>& machines)
{
    if (std::ssize(machines) < needed_) return 0;
    if (machines == machines_ && !unbalanced()) return 0;
    auto next = divide(machines);
    std::vector<int> remaining;
    std::ranges::set_intersection(machines_, machines, std::back_inserter(remaining));
    const auto waste = shares_.empty() ? 0 : transition_waste(shares_, next, remaining);
    shares_ = std::move(next);
    machines_ = machines;
    return waste;
}

// Shares out the rows. Changes are made machine by machine: first machines leave, then machines
// join.
Allocation Division::divide(const std::vector<int>& machines)
{
    const int copies = this->copies(machines.size());
    if (strategy_ == Strategy::speeds)
        return allocation_by_speed(rows_, machines, speeds(machines), copies);
    if (strategy_ == Strategy::cyclic) return cyclic_allocation(rows_, machines, copies);
    auto now = machines_;
    if (!now.empty() && copies != this->copies(now.size())) now.clear();  // begin from nothing
    const bool shifts = strategy_ == Strategy::shifted_cyclic;
    if (now.empty()) {
        now = machines;
        if (!shifts) flow_.emplace(rows_, machines, copies, most_);
    }
    std::vector<int> gone, come;
    std::ranges::set_difference(now, machines, std::back_inserter(gone));
    std::ranges::set_difference(machines, now, std::back_inserter(come));
    // If the machines that leave would leave too few, new ones join first.
    while (!gone.empty() || !come.empty()) {
        if (!gone.empty() && (std::ssize(now) > copies || come.empty())) {
            const auto position =
                static_cast<int>(std::ranges::find(now, gone.back()) - now.begin());
            if (shifts)
                offset_ += shift_after_leave(static_cast<int>(now.size()), position, copies);
            else
                flow_->leave(gone.back());
            now.erase(now.begin() + position);
            gone.pop_back();
        } else {
            const auto at = std::ranges::lower_bound(now, come.back());
            const auto position = static_cast<int>(at - now.begin());
            now.insert(at, come.back());
            if (shifts)
                offset_ -= shift_after_leave(static_cast<int>(now.size()), position, copies);
            else
                flow_->join(come.back());
            come.pop_back();
        }
    }
    offset_ -= std::floor(offset_);
    return shifts ? cyclic_allocation(rows_, machines, copies, offset_) : flow_->allocation();
}

}  // namespace quorate
