// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/placement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "code/fractional_repetition.hpp"
#include "code/partition.hpp"
#include "scheme/batches.hpp"

namespace quorate {

Needs needs_of(const Encoding& encoding, std::int64_t rows, const Shares& shares)
{
    Needs needs;
    if (shares.empty())
        for (int j = 0; j < encoding.partitions; ++j) {
            const auto [first, count] = partition(rows, encoding.partitions, j);
            needs.blocks.push_back({first, count});
        }
    for (const auto& [first, count] : partition(rows, shares))
        needs.blocks.push_back({first, count});
    for (const auto& parts : encoding.rows) {
        std::set<int> held;
        for (const auto& row : parts)
            for (const auto& coefficient : row) held.insert(coefficient.partition);
        needs.shard.emplace_back(held.begin(), held.end());
    }
    return needs;
}

Plans plans_of(const Encoding& encoding)
{
    std::map<std::vector<Row>, std::shared_ptr<const Plan>> shared;
    Plans plans;
    for (const auto& parts : encoding.rows) {
        auto& plan = shared[parts];
        if (!plan) {
            Plan made;
            for (const auto& row : parts) {
                Part part;
                for (const auto& [j, value] : row) part.items.push_back(Item{j, 0, value});
                made.parts.push_back(std::move(part));
            }
            plan = std::make_shared<Plan>(std::move(made));
        }
        plans.push_back(plan);
    }
    return plans;
}

Plans changed(const Plans& plans, const std::function<void(Plan&)>& change)
{
    std::map<const Plan*, std::shared_ptr<const Plan>> copies;
    Plans all;
    for (const auto& plan : plans) {
        auto& copy = copies[plan.get()];
        if (!copy) {
            auto made = std::make_shared<Plan>(*plan);
            change(*made);
            copy = std::move(made);
        }
        all.push_back(copy);
    }
    return all;
}

Plans descending(const Plans& plans)
{
    return changed(plans,
                   [](Plan& plan) { plan.parts[0].items[0].operation = Item::Operation::descent; });
}

std::vector<Worker> distinct_first(const Plans& plans, std::vector<Worker> workers)
{
    std::unordered_map<const Plan*, int> next_turn;
    std::vector<int> turn(plans.size());  // by worker
    const auto at = [](Worker worker) { return static_cast<std::size_t>(worker); };
    for (const auto worker : workers) turn[at(worker)] = next_turn[plans.at(at(worker)).get()]++;
    std::ranges::stable_sort(workers, {}, [&](Worker worker) { return turn[at(worker)]; });
    return workers;
}

Layout::Layout(const Encoding& encoding, const Problem& problem, const Shares& shares)
    : needs(needs_of(encoding, problem.rows, shares)), plans(plans_of(encoding)),
      samples(Batches(needs, problem.seed, problem.batch).samples())
{
}

Dispatch Layout::task(TaskId task, Worker worker, Version point, const TaskControl& control) const
{
    return {.task = task,
            .worker = worker,
            .plan = plans[worker],
            .inputs = {point},
            .control = control};
}

OwnPartitions::OwnPartitions(const Problem& problem)
    : Layout(repetition_encoding(repetition_groups(problem.workers, 1)), problem)
{
}

}  // namespace quorate
