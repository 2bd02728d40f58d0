// SPDX-License-Identifier: BSD-2-Clause
#include "engine/scheme_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compute/fold.hpp"
#include "scheme/whole_items.hpp"

namespace quorate {

SchemeCheck::SchemeCheck(Scheme& scheme, int workers, unsigned seed)
    : scheme_(scheme), needs_(scheme.needs()), random_(seed),
      machines_(static_cast<std::size_t>(workers)),
      models_(static_cast<std::size_t>(needs_.models), Vector{0})
{
    for (int model = 0; model < needs_.models; ++model) publish(model);
    choose = [this](const std::vector<Worker>& busy, std::int64_t) {
        return busy[random_() % busy.size()];
    };
}

void SchemeCheck::start_at(const Vector& w)
{
    for (auto& model : models_) model = w;
    for (auto& [version, point] : points_) point.w = w;
}

void SchemeCheck::run(std::int64_t rounds)
{
    for (auto& model : models_) model.resize(width);
    for (auto& [version, point] : points_) point.w.resize(width);
    Start start;
    for (Worker i = 0; i < std::ssize(machines_); ++i) start.active.push_back(i);
    give(start);
    while (std::ssize(steps) < rounds && undecodable.empty() && broken.empty()) {
        std::vector<Worker> busy;
        for (Worker i = 0; i < std::ssize(machines_); ++i)
            if (!machines_[static_cast<std::size_t>(i)].tasks.empty()) busy.push_back(i);
        const bool overdue = std::ranges::any_of(
            timers_, [this](const auto& timer) { return timer.second <= now_; });
        const bool timer = overdue || (!timers_.empty() && (busy.empty() || random_() % 8 == 0));
        if (!expect(timer || !busy.empty(), "no worker has a task, and no timer runs")) return;
        now_ += std::exponential_distribution(1.0)(random_);
        if (timer) {
            const auto due = std::ranges::min_element(
                timers_, {}, [](const auto& one) { return std::pair(one.second, one.first); });
            now_ = std::max(now_, due->second);
            const int number = due->first;
            timers_.erase(due);
            give(Deadline{number});
        } else if (const auto worker = choose(busy, std::ssize(steps)); worker >= 0) {
            answer(worker);
        } else {
            if (!expect(!timers_.empty(), "all workers stand still, and no timer runs")) return;
            const auto due =
                std::ranges::min_element(timers_, {}, [](const auto& one) { return one.second; });
            now_ = due->second;
            const int number = due->first;
            timers_.erase(due);
            give(Deadline{number});
        }
    }
}

bool SchemeCheck::expect(bool holds, const std::string& what)
{
    if (!holds) broken.push_back(what);
    return holds;
}

void SchemeCheck::publish(int model)
{
    newest_[model] = next_version_;
    points_[next_version_++] = {models_[static_cast<std::size_t>(model)]};
}

bool SchemeCheck::is_alive(Version version) const
{
    const auto at = points_.find(version);
    if (at == points_.end()) return false;
    if (at->second.holders > 0) return true;
    return std::ranges::any_of(newest_, [&](const auto& n) { return n.second == version; });
}

void SchemeCheck::give(const Event& event)
{
    std::vector<Event> events = {event};
    while (!events.empty() && undecodable.empty() && broken.empty()) {
        const auto one = events.front();
        events.erase(events.begin());
        std::vector<Action> out;
        scheme_.handle(one, now_, out);
        for (const auto& action : out) {
            if (auto caused = carry_out(action)) events.push_back(*caused);
            if (!broken.empty()) return;
        }
    }
    most_alive = std::max(most_alive, alive_.size());
}

std::optional<Event> SchemeCheck::carry_out(const Action& action)
{
    if (const auto* dispatch = std::get_if<Dispatch>(&action)) {
        check(*dispatch);
    } else if (const auto* close = std::get_if<Close>(&action)) {
        log.push_back("close " + std::to_string(close->first) + " " + std::to_string(close->last));
        expect(close->first <= close->last,
               fmt::format("it closes tasks {} to {}", close->first, close->last));
        for (auto at = open_.lower_bound(close->first);
             at != open_.end() && at->first <= close->last; at = open_.lower_bound(close->first))
            this->close(at->first);
    } else if (const auto* fill = std::get_if<Fill>(&action)) {
        this->fill(*fill);
    } else if (const auto* combine = std::get_if<Combine>(&action)) {
        for (const auto& term : combine->terms)
            expect(alive_.contains(term.contribution), "it combines a contribution that is gone");
    } else if (const auto* step = std::get_if<Step>(&action)) {
        return carry_out_step(*step);
    } else if (const auto* timer = std::get_if<SetTimer>(&action)) {
        if (timer->at == never)
            timers_.erase(timer->timer);
        else
            timers_[timer->timer] = timer->at;
    } else if (const auto* end = std::get_if<Undecodable>(&action)) {
        undecodable = end->why;
    }
    return {};
}

void SchemeCheck::check(const Dispatch& task)
{
    log.push_back("dispatch " + std::to_string(task.task) + " to " + std::to_string(task.worker));
    const bool asked = task.worker >= 0 && task.worker < std::ssize(machines_) && task.plan;
    if (!expect(asked, fmt::format("task {} has no plan, or there is no worker {}", task.task,
                                   task.worker)))
        return;
    expect(task.task > last_task_,
           fmt::format("task {} is given after task {}: numbers ascend", task.task, last_task_));
    last_task_ = task.task;
    const auto& shard = needs_.shard[static_cast<std::size_t>(task.worker)];
    for (const auto version : task.inputs) {
        if (!expect(is_alive(version),
                    fmt::format("task {} names version {}, which is gone", task.task, version)))
            return;
        ++points_[version].holders;
    }
    const auto operands = task.operands ? std::ssize(*task.operands) : 0;
    for (const auto& part : task.plan->parts) {
        for (const auto& item : part.items) {
            expect(item.input < std::ssize(task.inputs) + operands,
                   fmt::format("task {} has an item of input {}, which it lacks", task.task,
                               item.input));
            if (item.is_product()) {
                const auto rows = needs_.coded[static_cast<std::size_t>(task.worker)].rows;
                expect(item.block == task.worker && item.rows.first >= 0 &&
                           item.rows.first + item.rows.count <= rows,
                       fmt::format("task {} names coded rows that worker {} does not store",
                                   task.task, task.worker));
            } else {
                expect(std::ranges::binary_search(shard, item.block),
                       fmt::format("task {} names block {}, which worker {} does not store",
                                   task.task, item.block, task.worker));
            }
            expect(item.operation == part.items[0].operation,
                   fmt::format("task {} has a part of several operations", task.task));
        }
        const auto operation = part.items.empty() ? Item::Operation{} : part.items[0].operation;
        const bool separate =
            operation == Item::Operation::gradient || operation == Item::Operation::held;
        if (is_held(part))
            expect(separate && !(part.held && !part.fold.empty()) && task.control.draw != own_count,
                   fmt::format("task {} holds what are no gradients at a point alone", task.task));
        if (part.fold.empty()) continue;
        expect(part.fold.size() % part.items.size() == 0 && separate,
               fmt::format("task {} folds with {} coefficients what are {} items, or no gradients",
                           task.task, part.fold.size(), part.items.size()));
    }
    const auto& budget = task.control.budget;
    expect(!budget.limited() || can_be_limited(budget, *task.plan),
           fmt::format("task {} has a limit that is not for its parts or items", task.task));
    if (!broken.empty()) return;
    open_.emplace(task.task, task);
    auto& machine = machines_[static_cast<std::size_t>(task.worker)];
    if (!task.control.follows()) {
        // Who is interrupted may have begun a gradient to be cached.
        if (!machine.tasks.empty() && is_cached(machine.tasks[0].plan->parts[0]) && random_() % 2) {
            const auto left =
                updates_of(machine, machine.tasks[0], machine.tasks[0].plan->parts[0]);
            if (!left.empty()) machine.begun = {left[0].item->block, left[0].version};
        }
        machine.tasks.clear();
        machine.part = 0;
    } else {
        const auto after_running = machine.tasks.begin() + (machine.tasks.empty() ? 0 : 1);
        machine.tasks.erase(after_running, machine.tasks.end());
    }
    machine.tasks.push_back(task);
}

void SchemeCheck::close(TaskId task)
{
    const auto at = open_.find(task);
    if (at == open_.end()) return;
    for (const auto version : at->second.inputs) --points_[version].holders;
    auto& machine = machines_[static_cast<std::size_t>(at->second.worker)];
    if (!machine.tasks.empty() && machine.tasks[0].task == task) machine.part = 0;
    std::erase_if(machine.tasks, [&](const Dispatch& one) { return one.task == task; });
    open_.erase(at);
    std::erase_if(alive_, [&](const auto& one) { return one.second.task == task; });
}

void SchemeCheck::fill(const Fill& fill)
{
    if (!expect(fill.slot >= 0 && fill.slot < needs_.slots,
                fmt::format("it fills slot {}, but has {}", fill.slot, needs_.slots)))
        return;
    for (auto& [id, one] : alive_)
        if (one.slot == fill.slot) one.slot = -1;
    for (const auto id : fill.contributions) {
        const auto at = alive_.find(id);
        if (!expect(at != alive_.end(), "it fills a slot with a contribution that is gone") ||
            !expect(at->second.slot < 0, "it fills two slots with a contribution"))
            return;
        at->second.slot = fill.slot;
        at->second.weight = fill.weight;
        at->second.kept = true;
    }
    expect(std::ranges::is_sorted(fill.contributions),
           "it fills a slot with contributions that do not ascend");
}

// Returns the step with what the table holds among its terms.
Step SchemeCheck::spelled_out(Step step) const
{
    if (!step.table) return step;
    for (const auto& [id, one] : alive_) {
        if (one.slot < 0) continue;
        const auto term = std::ranges::find(step.terms, id, &Term::contribution);
        if (term == step.terms.end())
            step.terms.push_back({id, one.weight, true});
        else
            term->weight += one.weight;
    }
    return step;
}

std::optional<Event> SchemeCheck::carry_out_step(const Step& made)
{
    std::set<ContributionId> in_terms;
    for (const auto& term : made.terms) {
        const auto at = alive_.find(term.contribution);
        expect(in_terms.insert(term.contribution).second,
               "in a step a contribution is named twice");
        expect(at == alive_.end() || at->second.slot < 0 || term.keep,
               "a step ends a contribution that the table holds");
    }
    const auto step = spelled_out(made);
    expect(step.divisor > 0, fmt::format("a step divides by {}", step.divisor));
    expect(!step.terms.empty() || !step.placed.empty(), "a step has no terms");
    expect(!needs_.exact || step.error < 1e-9,
           fmt::format("its estimates are exact, but one has an error of {:g}", step.error));
    expect(step.model >= 0 && step.model < std::ssize(models_),
           fmt::format("a step is of model {}, which is not there", step.model));
    std::set<ContributionId> named;
    Vector estimate(width);
    std::vector<Version> newest;
    for (const auto& term : step.terms) {
        expect(named.insert(term.contribution).second, "in a step a contribution is named twice");
        const auto at = alive_.find(term.contribution);
        expect(at != alive_.end(), "a step names a contribution that is gone");
        if (!broken.empty() ||
            !expect(!at->second.held, "a step names a contribution whose values are held"))
            return {};
        for (std::size_t i = 0; i < width; ++i)
            estimate[i] += term.weight * at->second.sum[i] / step.divisor;
        versions.push_back(at->second.versions);
        newest.push_back(std::ranges::max(at->second.versions));
    }
    expect(step.placed.empty() || needs_.places || !needs_.coded_columns.empty(),
           "a step places contributions, of which its needs say nothing");
    for (const auto& term : step.placed) {
        const auto at = alive_.find(term.contribution);
        expect(at != alive_.end(), "a step places a contribution that is gone");
        if (!broken.empty() ||
            !expect(!at->second.held, "a step places a contribution whose values are held"))
            return {};
        const auto& sum = at->second.sum;
        for (std::int64_t i = 0; i < term.from.count; ++i)
            if (term.at + i < std::ssize(estimate) && term.from.first + i < std::ssize(sum))
                estimate[static_cast<std::size_t>(term.at + i)] +=
                    term.weight * sum[static_cast<std::size_t>(term.from.first + i)] / step.divisor;
        if (!named.insert(term.contribution).second) continue;
        versions.push_back(at->second.versions);
        newest.push_back(std::ranges::max(at->second.versions));
    }
    for (const auto& term : step.terms) {
        if (term.keep)
            alive_.at(term.contribution).kept = true;
        else
            alive_.erase(term.contribution);
    }
    for (const auto& term : step.placed) alive_.erase(term.contribution);
    const auto kept =
        std::ranges::count_if(alive_, [](const auto& one) { return one.second.kept; });
    expect(kept <= needs_.kept,
           fmt::format("{} contributions have outlived steps, not {} at most", kept, needs_.kept));
    std::set<Version> held;
    for (const auto& [id, one] : alive_)
        if (const auto task = open_.find(one.task); one.kept && task != open_.end())
            held.insert(task->second.inputs.begin(), task->second.inputs.end());
    const auto most = needs_.points_of_kept();
    expect(std::ssize(held) <= most,
           fmt::format("contributions that have outlived steps hold {} points, not {} at most",
                       held.size(), most));
    auto& w = models_[static_cast<std::size_t>(step.model)];
    for (std::size_t i = 0; i < width; ++i)
        w[i] += step.displacement ? estimate[i] : -step_size * step.scale * estimate[i];
    steps.push_back(step);
    estimates.push_back(std::move(estimate));
    published_at.push_back(std::move(newest));
    log.push_back("step with " + std::to_string(step.terms.size()));
    publish(step.model);
    return Stepped{next_version_ - 1, step.model, 1};
}

void SchemeCheck::answer(Worker worker)
{
    auto& machine = machines_[static_cast<std::size_t>(worker)];
    const auto task = machine.tasks.front();
    const auto& parts = task.plan->parts;
    if (machine.part == 0) ++machine.count;
    Arrived message;
    for (bool more = true; more; ++machine.part) {
        const auto& asked = parts[machine.part];
        const bool whole = takes_whole_items(task.control.budget, asked);
        const auto part = whole ? Part{first_items(asked)} : asked;
        const auto value = compute(machine, task, part);
        const auto [oldest, newest] = std::ranges::minmax(value.versions);
        message.contributions.push_back(
            {{.worker = worker,
              .part = static_cast<int>(machine.part),
              .task = task.task,
              .draw = task.control.draw == own_count ? machine.count - 1 : task.control.draw,
              .samples = whole ? rows_of(part) : samples(task, part),
              .oldest = oldest,
              .newest = newest,
              .items = whole ? static_cast<int>(part.items.size()) : 0,
              .compute = 1},
             next_contribution_});
        alive_[next_contribution_++] = value;
        more = machine.part + 1 < parts.size() && !task.plan->each_when_ready;
    }
    if (machine.part == parts.size()) {
        machine.part = 0;
        if (!task.control.repeat || machine.tasks.size() > 1)
            machine.tasks.erase(machine.tasks.begin());
    }
    give(message);
}

std::int64_t SchemeCheck::samples(const Dispatch& task, const Part& part)
{
    const auto asked = task.control.budget.samples;
    if (asked > 0 && task.control.budget.seconds == never) return asked;
    if (asked > 0) {
        // All of them, none, or those that there was time for.
        if (std::uniform_real_distribution()(random_) < empty) return 0;
        return random_() % 2 == 0 ? asked
                                  : std::uniform_int_distribution(std::int64_t{1}, asked)(random_);
    }
    if (task.control.budget.limited())
        return std::uniform_real_distribution()(random_) < empty
                   ? 0
                   : static_cast<std::int64_t>(1 + random_() % 100);
    return rows_of(part);
}

// The items that a task is done with when its time is over, from the first on.
std::vector<Item> SchemeCheck::first_items(const Part& part)
{
    if (std::uniform_real_distribution()(random_) < empty) return {};
    const auto count = 1 + random_() % part.items.size();
    return {part.items.begin(), part.items.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::int64_t SchemeCheck::rows_of(const Part& part) const
{
    std::int64_t rows = 0;
    for (const auto& item : part.items)
        rows += item.is_product() ? item.rows.count
                                  : needs_.blocks[static_cast<std::size_t>(item.block)].count;
    return rows;
}

const SchemeCheck::Vector& SchemeCheck::at(Version version)
{
    expect(is_alive(version), fmt::format("version {} is gone before its task is closed", version));
    return points_.at(version).w;
}

std::vector<CacheUpdate> SchemeCheck::updates_of(const Machine& machine, const Dispatch& task,
                                                 const Part& part)
{
    std::map<int, Version> versions;
    for (const auto& [block, cached] : machine.cached) versions[block] = cached.version;
    return cache_updates(part, task.inputs, versions, machine.begun);
}

SchemeCheck::Value SchemeCheck::compute(Machine& machine, const Dispatch& task, const Part& part)
{
    const auto pieces = pieces_of(part);
    Value value{.task = task.task,
                .sum = Vector(folded_length(width, pieces)),
                .versions = {},
                .held = part.held};
    if (is_cached(part)) {
        for (const auto& [item, version] : updates_of(machine, task, part))
            machine.cached[item->block] = {version, gradient(item->block, at(version))};
        machine.begun.reset();
    }
    for (const auto& item : part.items) {
        if (item.is_product()) continue;  // no vectors here
        const auto version = task.inputs[static_cast<std::size_t>(item.input)];
        const auto one = is_cached(part) ? machine.cached.at(item.block)
                                         : Cached{version, gradient(item.block, at(version))};
        value.versions.push_back(one.version);
        if (!part.fold.empty()) {
            const auto first = static_cast<std::size_t>(&item - part.items.data()) * pieces;
            add_folded(std::span(part.fold).subspan(first, pieces),
                       Support::all(static_cast<std::int64_t>(width)), one.gradient, value.sum);
            continue;
        }
        for (std::size_t i = 0; i < width; ++i) value.sum[i] += item.coefficient * one.gradient[i];
    }
    if (value.versions.empty()) value.versions = {task.inputs.begin(), task.inputs.end()};
    return value;
}
}  // namespace quorate
