// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/groups.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quorate {

GroupScheme::GroupScheme(const Problem& problem, FractionalRepetition code, int collect,
                         bool rescale)
    : problem_(problem), code_(code), collect_(collect), rescale_(rescale),
      heard_(static_cast<std::size_t>(code.groups()))
{
    for (int group = 0; group < code_.groups(); ++group) {
        Part sum;
        for (const int j : code_.partitions(group)) sum.items.push_back(Item{j});
        plans_.push_back(std::make_shared<Plan>(Plan{{sum}}));
    }
}

Needs GroupScheme::needs() const
{
    Needs needs;
    for (int i = 0; i < problem_.workers; ++i) {
        const auto [first, count] = partition(problem_.rows, problem_.workers, i);
        needs.blocks.push_back({first, count});
        needs.shard.push_back(code_.partitions(code_.group(i)));
    }
    return needs;
}

std::shared_ptr<const Plan> GroupScheme::plan(Worker worker) const
{
    return plans_[static_cast<std::size_t>(code_.group(worker))];
}

// One worker of each group, then a second of each, and so on: where nobody straggles, every group is
// heard after as many answers as there are groups.
std::vector<Worker> GroupScheme::order(std::vector<Worker> active) const
{
    std::vector<int> place(heard_.size());
    std::vector<std::pair<int, Worker>> turns;
    for (const auto worker : active)
        turns.emplace_back(place[static_cast<std::size_t>(code_.group(worker))]++, worker);
    std::stable_sort(turns.begin(), turns.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(turns.begin(), turns.end(), active.begin(),
                   [](const auto& turn) { return turn.second; });
    return active;
}

void GroupScheme::begin()
{
    heard_.assign(heard_.size(), false);
    terms_.clear();
    answers_ = 0;
}

std::optional<Step> GroupScheme::hear(const Contribution& contribution)
{
    const auto group = static_cast<std::size_t>(code_.group(contribution.worker));
    ++answers_;
    if (!heard_[group]) {
        heard_[group] = true;
        terms_.push_back({contribution.id});
    }
    const int heard = static_cast<int>(terms_.size());
    if (heard < code_.groups() && answers_ < collect_) return std::nullopt;
    // The estimate is the sum of the groups heard, times a, over the rows: divisor = N / a.
    const double a = rescale_ ? static_cast<double>(code_.groups()) / heard : 1;
    return Step{terms_, static_cast<double>(problem_.rows) / a, code_.error(heard, a)};
}

std::vector<Option> repetition_options()
{
    return {{"stragglers", "S", "1", "stragglers tolerated: each partition is on S + 1 workers"}};
}

FractionalRepetition repetition(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const auto d = static_cast<int>(settings.integer("stragglers", 0, n - 1)) + 1;
    if (n % d != 0) {
        int below = d, above = d;
        while (n % below != 0) --below;
        while (n % above != 0) ++above;
        settings.refuse("stragglers",
                        fmt::format(", but stragglers + 1 = {} does not divide the {} workers: try "
                                    "--stragglers {} or {}, or {} or {} workers",
                                    d, n, below - 1, above - 1, n / d * d, (n / d + 1) * d));
    }
    return {n, d};
}

}  // namespace quorate
