// SPDX-License-Identifier: BSD-2-Clause
#include "code/allocation.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <numeric>
#include <set>

namespace quorate {

namespace {

// Joins neighbouring shares of the same machines, and drops empty ones.
Allocation merged(Allocation shares)
{
    Allocation all;
    for (auto& share : shares) {
        if (share.count == 0) continue;
        if (!all.empty() && all.back().machines == share.machines)
            all.back().count += share.count;
        else
            all.push_back(std::move(share));
    }
    return all;
}

std::int64_t row_at(std::int64_t rows, double part)
{
    // The small number keeps i / N * rows from being rounded below a whole number.
    return static_cast<std::int64_t>(std::floor(part * static_cast<double>(rows) + 1e-9));
}

}  // namespace

Allocation cyclic_allocation(std::int64_t rows, std::span<const int> machines, int copies,
                             double offset)
{
    const auto n = static_cast<int>(machines.size());
    Allocation shares;
    // Cell i lies between the beginnings of windows i and i + 1: the windows i, i - 1, ... cover
    // it.
    const auto add = [&](double from, double to, int cell) {
        Share share{row_at(rows, from), 0, {}};
        share.count = row_at(rows, to) - share.first;
        for (int back = 0; back < copies; ++back)
            share.machines.push_back(machines[(cell - back + n) % n]);
        std::ranges::sort(share.machines);
        shares.push_back(std::move(share));
    };
    for (int cell = 0; cell < n; ++cell) {
        const double from = std::fmod(offset + static_cast<double>(cell) / n, 1);
        const double to = from + 1.0 / n;
        add(from, std::min(to, 1.0), cell);
        if (to > 1 + 1e-12) add(0, to - 1, cell);
    }
    std::ranges::sort(shares, {}, &Share::first);
    // Rounding may have moved an end by a row. So each share is made to end where the next one
    // begins.
    std::erase_if(shares, [](const Share& share) { return share.count == 0; });
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const auto end = i + 1 < shares.size() ? shares[i + 1].first : rows;
        shares[i].count = end - shares[i].first;
    }
    return merged(std::move(shares));
}

double shift_after_leave(int machines, int leaver, int copies)
{
    const int middle = (machines + copies - 2) / 2;
    return static_cast<double>(machines - leaver - 1 - middle) /
           (static_cast<double>(machines) * (machines - 1));
}

std::vector<double> loads_by_speed(std::span<const double> speeds, int copies)
{
    const auto n = static_cast<int>(speeds.size());
    std::vector<int> order(speeds.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int i) { return speeds[i]; });
    const auto speed = [&](int rank) {  // from 1, slowest first
        return speeds[order[rank - 1]];
    };
    // The fastest machines compute all rows, as many of them as needed for the others to be able to
    // share what is left in proportion to their speeds.
    int k = n;
    double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    while (k > 1 && sum < speed(k) * (copies - n + k)) sum -= speed(k--);
    std::vector<double> loads(speeds.size(), 1);
    for (int rank = 1; rank <= k; ++rank)
        loads[order[rank - 1]] = std::min(1.0, speed(rank) * (copies - n + k) / sum);
    return loads;
}

Allocation allocation_by_speed(std::int64_t rows, std::span<const int> machines,
                               std::span<const double> speeds, int copies)
{
    constexpr double nothing = 1e-12;
    auto left = loads_by_speed(speeds, copies);
    const auto total = [&] { return std::accumulate(left.begin(), left.end(), 0.0); };
    Allocation shares;
    double from = 0;
    // Each step gives a part of the rows to the machine with the least left and the copies - 1 with
    // the most, until one of them is done or another one must begin.
    while (total() > nothing * static_cast<double>(left.size())) {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < left.size(); ++i)
            if (left[i] > nothing) order.push_back(i);
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return left[i]; });
        const auto active = std::ssize(order);
        if (active < copies) break;  // nothing but rounding errors is left
        std::vector<std::size_t> chosen = {order[0]};
        chosen.insert(chosen.end(), order.end() - (copies - 1), order.end());
        double part = left[order[0]];
        if (active > copies) part = std::min(part, total() / copies - left[order[active - copies]]);
        Share share{row_at(rows, from), 0, {}};
        for (const auto i : chosen) {
            left[i] = std::max(0.0, left[i] - part);
            share.machines.push_back(machines[i]);
        }
        std::ranges::sort(share.machines);
        from += part;
        share.count = row_at(rows, from) - share.first;
        shares.push_back(std::move(share));
        if (part <= nothing) break;
    }
    shares.back().count = rows - shares.back().first;
    return merged(std::move(shares));
}

namespace {

// Which of `tasks` each of the givers or takers gets: at most so many, at most one of each task,
// and only those that it may have. @return for each task, who; -1: nobody
class Matching {
public:
    Matching(std::size_t tasks, std::span<const std::int64_t> most)
        : graph_(2 + tasks + most.size()), tasks_(tasks)
    {
        for (std::size_t who = 0; who < most.size(); ++who) add(source, node_of(who), most[who]);
        for (std::size_t task = 0; task < tasks; ++task) add(2 + task, sink, 1);
    }
    void allow(std::size_t who, std::size_t task) { add(node_of(who), 2 + task, 1); }

    std::int64_t solve() { return boost::push_relabel_max_flow(graph_, source, sink); }

    std::vector<int> who_has() const
    {
        std::vector<int> who(tasks_, -1);
        const auto capacity = get(boost::edge_capacity, graph_);
        const auto residual = get(boost::edge_residual_capacity, graph_);
        for (auto [edge, end] = edges(graph_); edge != end; ++edge) {
            const auto from = boost::source(*edge, graph_), to = boost::target(*edge, graph_);
            if (from < 2 + tasks_ || to < 2 || to >= 2 + tasks_) continue;
            if (capacity[*edge] == 1 && residual[*edge] == 0)
                who[to - 2] = static_cast<int>(from - 2 - tasks_);
        }
        return who;
    }

private:
    using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
    using Edge = Traits::edge_descriptor;
    using Graph = boost::adjacency_list<
        boost::vecS, boost::vecS, boost::directedS, boost::no_property,
        boost::property<boost::edge_capacity_t, std::int64_t,
                        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                        boost::property<boost::edge_reverse_t, Edge>>>>;
    static constexpr std::size_t source = 0, sink = 1;

    std::size_t node_of(std::size_t who) const { return 2 + tasks_ + who; }
    void add(std::size_t from, std::size_t to, std::int64_t capacity)
    {
        const auto forth = boost::add_edge(from, to, graph_).first;
        const auto back = boost::add_edge(to, from, graph_).first;
        put(boost::edge_capacity, graph_, forth, capacity);
        put(boost::edge_capacity, graph_, back, 0);
        put(boost::edge_reverse, graph_, forth, back);
        put(boost::edge_reverse, graph_, back, forth);
    }

    Graph graph_;
    std::size_t tasks_;
};

bool has(const std::vector<int>& sorted, int machine)
{
    return std::ranges::binary_search(sorted, machine);
}

void insert(std::vector<int>& sorted, int machine)
{
    sorted.insert(std::ranges::lower_bound(sorted, machine), machine);
}

}  // namespace

FlowAllocation::FlowAllocation(std::int64_t rows, std::span<const int> machines, int copies,
                               int most)
    : rows_(rows), copies_(copies), machines_(machines.begin(), machines.end()),
      tasks_(std::max<std::int64_t>(1, std::min<std::int64_t>(rows, 20 * std::int64_t{most})))
{
    for (const auto& share :
         cyclic_allocation(static_cast<std::int64_t>(tasks_.size()), machines, copies))
        for (auto task = share.first; task < share.first + share.count; ++task)
            tasks_[task] = share.machines;
}

std::int64_t FlowAllocation::load(int machine) const
{
    return std::ranges::count_if(tasks_, [&](const auto& who) { return has(who, machine); });
}

void FlowAllocation::leave(int machine)
{
    std::erase(machines_, machine);
    std::vector<std::size_t> orphans;
    for (std::size_t task = 0; task < tasks_.size(); ++task)
        if (has(tasks_[task], machine)) {
            std::erase(tasks_[task], machine);
            orphans.push_back(task);
        }
    const auto n = static_cast<std::int64_t>(machines_.size());
    auto balanced = (copies_ * std::ssize(tasks_) + n - 1) / n;
    // If loads cannot be balanced without moving other tasks, they are allowed to differ by one
    // more.
    for (;; ++balanced) {
        std::vector<std::int64_t> most;
        for (const int one : machines_)
            most.push_back(std::max<std::int64_t>(0, balanced - load(one)));
        Matching matching(orphans.size(), most);
        for (std::size_t i = 0; i < machines_.size(); ++i)
            for (std::size_t o = 0; o < orphans.size(); ++o)
                if (!has(tasks_[orphans[o]], machines_[i])) matching.allow(i, o);
        if (matching.solve() < std::ssize(orphans)) continue;
        const auto who = matching.who_has();
        for (std::size_t o = 0; o < orphans.size(); ++o)
            insert(tasks_[orphans[o]], machines_[who[o]]);
        return;
    }
}

void FlowAllocation::join(int machine)
{
    const auto n = static_cast<std::int64_t>(machines_.size()) + 1;
    auto wanted = copies_ * std::ssize(tasks_) / n;
    std::vector<std::int64_t> loads, gives(machines_.size());
    for (const int one : machines_) loads.push_back(load(one));
    for (auto left = wanted; left > 0; --left) {  // one task, from the machine that has most
        const auto most = std::ranges::max_element(loads) - loads.begin();
        --loads[most];
        ++gives[most];
    }
    // A task can be given by one machine only; if the tasks do not suffice, the new one has fewer.
    Matching matching(tasks_.size(), gives);
    for (std::size_t i = 0; i < machines_.size(); ++i)
        for (std::size_t task = 0; task < tasks_.size(); ++task)
            if (has(tasks_[task], machines_[i])) matching.allow(i, task);
    matching.solve();
    const auto who = matching.who_has();
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
        if (who[task] < 0) continue;
        std::erase(tasks_[task], machines_[who[task]]);
        insert(tasks_[task], machine);
    }
    insert(machines_, machine);
}

Allocation FlowAllocation::allocation() const
{
    Allocation shares;
    const auto tasks = std::ssize(tasks_);
    for (std::int64_t task = 0; task < tasks; ++task) {
        const auto first = rows_ * task / tasks;
        shares.push_back({first, rows_ * (task + 1) / tasks - first, tasks_[task]});
    }
    return merged(std::move(shares));
}

std::int64_t rows_of(const Allocation& allocation, int machine)
{
    std::int64_t rows = 0;
    for (const auto& share : allocation)
        if (has(share.machines, machine)) rows += share.count;
    return rows;
}

std::int64_t transition_waste(const Allocation& before, const Allocation& after,
                              std::span<const int> remaining)
{
    std::set<std::int64_t> cuts;
    for (const auto* one : {&before, &after})
        for (const auto& share : *one) cuts.insert(share.first);
    const auto rows = before.back().first + before.back().count;
    cuts.insert(rows);
    std::int64_t waste = 0;
    auto old = before.begin(), now = after.begin();
    for (auto cut = cuts.begin(); *cut < rows; ++cut) {
        while (old->first + old->count <= *cut) ++old;
        while (now->first + now->count <= *cut) ++now;
        const auto count = *std::next(cut) - *cut;
        for (const int machine : remaining)
            if (has(old->machines, machine) != has(now->machines, machine)) waste += count;
    }
    for (const int machine : remaining)
        waste -= std::abs(rows_of(after, machine) - rows_of(before, machine));
    return waste;
}

}  // namespace quorate
