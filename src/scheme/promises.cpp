// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/promises.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "scheme/whole_items.hpp"

namespace quorate {

void Promises::note(const Event& event)
{
    if (const auto* stepped = std::get_if<Stepped>(&event))
        newest_[stepped->model] = stepped->version;
    const auto* arrived = std::get_if<Arrived>(&event);
    if (!arrived) return;
    for (const auto& one : arrived->contributions) {
        const auto& plan = *open_.at(one.task).plan;
        in_use_[one.id] = {.task = one.task, .head = plan.parts[one.part].held};
    }
}

void Promises::check(const Dispatch& task)
{
    expect(task.worker >= 0 && task.worker < std::ssize(needs_.shard),
           "gives task {} to worker {}, but there are {}", task.task, task.worker,
           needs_.shard.size());
    expect(task.plan && !task.plan->parts.empty(), "gives task {} without a part", task.task);
    expect(task.task > last_task_, "gives task {} after task {}: numbers must ascend", task.task,
           last_task_);
    check_points(task);
    for (const auto& part : task.plan->parts) check_part(task, part);
    const auto& budget = task.control.budget;
    expect(budget.samples >= 0 && budget.micro_batch >= 0 && budget.seconds > 0,
           "gives task {} {} samples and {} seconds", task.task, budget.samples, budget.seconds);
    expect(!budget.limited() || can_be_limited(budget, *task.plan),
           "limits task {}, which has more than one part; or more than one item, to samples or "
           "micro-batches, or not of gradients",
           task.task);
    last_task_ = task.task;
    for (const auto version : task.inputs) ++open_of_[version];
    open_.emplace(task.task, task);
}

void Promises::check_points(const Dispatch& task) const
{
    const auto newest = std::ranges::max(newest_);
    for (const auto version : task.inputs) {
        expect(version >= 0 && version <= newest,
               "gives task {} the point of version {}, but the newest is {}", task.task, version,
               newest);
        expect(open_of_.contains(version) || std::ranges::count(newest_, version) > 0,
               "gives task {} the point of version {}, which is gone: no open task names it",
               task.task, version);
    }
}

void Promises::check_part(const Dispatch& task, const Part& part) const
{
    const auto operation = part.items.empty() ? Item::Operation{} : part.items[0].operation;
    for (const auto& item : part.items) {
        check_item(task, item);
        expect(item.operation == operation, "gives task {} a part of several operations",
               task.task);
    }
    const bool separate =
        operation == Item::Operation::gradient || operation == Item::Operation::held;
    const bool held = part.held || operation == Item::Operation::held;
    expect(!held || (separate && task.control.draw != own_count),
           "gives task {} a part that is held and not of gradients, or whose samples its worker's "
           "count keys",
           task.task);
    expect(!part.held || part.fold.empty(), "gives task {} a part that is held and folded",
           task.task);
    if (part.fold.empty()) return;
    expect(needs_.places, "gives task {} a fold: its Needs must say places=True", task.task);
    expect(separate && !part.items.empty() && part.fold.size() % part.items.size() == 0,
           "gives task {} a fold of {} coefficients for {} items: give as many for each gradient",
           task.task, part.fold.size(), part.items.size());
    for (const double coefficient : part.fold)
        expect(std::isfinite(coefficient), "gives task {} a coefficient of {}", task.task,
               coefficient);
}

void Promises::check_item(const Dispatch& task, const Item& item) const
{
    const auto inputs = std::ssize(task.inputs) + (task.operands ? std::ssize(*task.operands) : 0);
    expect(item.input >= 0 && item.input < inputs, "gives task {} with input {}, but it has {}",
           task.task, item.input, inputs);
    expect(std::isfinite(item.coefficient), "gives task {} a coefficient of {}", task.task,
           item.coefficient);
    const auto worker = static_cast<std::size_t>(task.worker);
    if (!item.is_product()) {
        expect(std::ranges::binary_search(needs_.shard[worker], item.block),
               "gives task {} with block {}, which worker {} does not store", task.task, item.block,
               task.worker);
        return;
    }
    const auto& stored =
        item.operation == Item::Operation::column_product ? needs_.coded_columns : needs_.coded;
    expect(worker < stored.size(), "gives task {} products, which only coded storage has",
           task.task);
    expect(item.block == task.worker && item.rows.first >= 0 &&
               item.rows.first + item.rows.count <= stored[worker].rows,
           "gives task {} coded rows that worker {} does not store", task.task, task.worker);
}

void Promises::check(const Close& close)
{
    expect(close.first <= close.last, "closes tasks {} to {}", close.first, close.last);
    const auto first = open_.lower_bound(close.first), last = open_.upper_bound(close.last);
    for (auto at = first; at != last; ++at)
        for (const auto version : at->second.inputs)
            if (--open_of_[version] == 0) open_of_.erase(version);
    open_.erase(first, last);
    std::erase_if(in_use_, [&](const auto& one) {
        return close.first <= one.second.task && one.second.task <= close.last;
    });
}

const Promises::InUse& Promises::in_use(ContributionId id) const
{
    const auto at = in_use_.find(id);
    expect(at != in_use_.end(), "names contribution {}, which is gone", id);
    return at->second;
}

void Promises::check(const Fill& fill)
{
    expect(fill.slot >= 0 && fill.slot < needs_.slots, "fills slot {}, but has {}", fill.slot,
           needs_.slots);
    expect(std::ranges::is_sorted(fill.contributions),
           "fills slot {} with contributions that do not ascend", fill.slot);
    for (auto& [id, one] : in_use_)
        if (one.slot == fill.slot) one.slot = -1;
    for (const auto id : fill.contributions) {
        expect(in_use(id).slot < 0, "fills two slots with contribution {}", id);
        auto& one = in_use_.at(id);
        one.slot = fill.slot;
        one.weight = fill.weight;
        one.kept = true;
    }
}

const Promises::InUse& Promises::with_values(ContributionId id) const
{
    const auto& one = in_use(id);
    expect(!one.head,
           "makes a step of contribution {}, whose part is held: its values are at its worker", id);
    return one;
}

void Promises::check(const Combine& combine) const
{
    expect(!needs_.coded.empty(), "combines products, which only coded storage has");
    for (const auto& term : combine.terms) with_values(term.contribution);
}

// That the terms are there, and finite.
void Promises::check_terms(const Step& step) const
{
    std::set<ContributionId> named;
    for (const auto& term : step.terms) {
        expect(named.insert(term.contribution).second,
               "makes a step in which contribution {} is named twice", term.contribution);
        expect(with_values(term.contribution).slot < 0 || term.keep,
               "makes a step that ends contribution {}, which the table has", term.contribution);
        expect(std::isfinite(term.weight), "makes a step with the weight {}", term.weight);
    }
    expect(step.placed.empty() || needs_.places || !needs_.coded_columns.empty(),
           "places contributions: its Needs must say places=True");
    for (const auto& term : step.placed) {
        expect(!named.contains(term.contribution),
               "makes a step that adds and places contribution {}", term.contribution);
        with_values(term.contribution);
        expect(std::isfinite(term.weight) && term.from.first >= 0 && term.from.count >= 0 &&
                   term.at >= 0,
               "places elements {} to {} at {} with the weight {}", term.from.first,
               term.from.first + term.from.count, term.at, term.weight);
    }
}

void Promises::check(const Step& step)
{
    const bool filled = step.table && std::ranges::any_of(in_use_, [](const auto& one) {
                            return one.second.slot >= 0;
                        });
    expect(filled || !step.terms.empty() || !step.placed.empty(),
           "makes a step without contributions");
    expect(std::isfinite(step.divisor) && step.divisor > 0, "makes a step that divides by {}",
           step.divisor);
    expect(step.model >= 0 && step.model < needs_.models, "makes a step of model {}, of {}",
           step.model, needs_.models);
    expect(std::isfinite(step.scale) && std::isfinite(step.share) && !std::isnan(step.error),
           "makes a step with scale {}, share {} and error {}", step.scale, step.share, step.error);
    expect(!needs_.exact || step.error < 1e-9,
           "makes a step with an error of {:g}, but its Needs say that all are exact", step.error);
    expect(!needs_.aggregator || (step.placed.empty() && !step.table && !step.displacement),
           "makes a step of more than gradients, which its Needs would have aggregated");
    check_terms(step);
    for (const auto& term : step.terms) {
        if (term.keep)
            in_use_.at(term.contribution).kept = true;
        else
            in_use_.erase(term.contribution);
    }
    for (const auto& term : step.placed) in_use_.erase(term.contribution);
    check_kept();
}

void Promises::check(const SetTimer& timer) const
{
    expect(!std::isnan(timer.at), "sets timer {} to no time", timer.timer);
}

// That contributions which have outlived steps, and the points that their tasks name, are as few as
// the memory of a run was reckoned for.
void Promises::check_kept() const
{
    std::int64_t kept = 0;
    std::set<Version> points;
    for (const auto& [id, one] : in_use_) {
        if (!one.kept) continue;
        ++kept;
        const auto& inputs = open_.at(one.task).inputs;
        points.insert(inputs.begin(), inputs.end());
    }
    expect(kept <= needs_.kept,
           "keeps {} contributions, but its needs say at most {}: give Needs(..., kept=N)", kept,
           needs_.kept);
    const auto most = needs_.points_of_kept();
    expect(std::ssize(points) <= most,
           "keeps contributions whose tasks name {} points, but its needs say at most {}: give "
           "Needs(..., points=M)",
           points.size(), most);
}

}  // namespace quorate
