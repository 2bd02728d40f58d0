// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/simulated_worker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"

namespace quorate {

void SimulatedWorker::add(Order order, Seconds now)
{
    tasks_.add(std::move(order), [&] { stop(now); });
}

void SimulatedWorker::cancel(TaskId last, Seconds now)
{
    tasks_.cancel(last, [&] { stop(now); });
}

// Ends the running task before its time.
void SimulatedWorker::stop(Seconds now)
{
    leave_off(now);
    ++epoch_;
    idle_since_ = now;
}

void SimulatedWorker::clear(Seconds now)
{
    if (tasks_.is_running()) leave_off(now);
    tasks_ = {};
    ++epoch_;
}

void SimulatedWorker::reset(Seconds now)
{
    cache_.clear();
    begun_.reset();
    measured_.reset();
    idle_since_ = now;
}

void SimulatedWorker::add_points(std::map<Version, Point>& points) const
{
    for (const auto& [block, cached] : cache_)
        points.emplace(cached->gradient.version, cached->point);
}

void SimulatedWorker::replace_machine(int machine)
{
    machine_ = machine;
    straggling_.forget();
}

bool SimulatedWorker::has(TaskId task) const
{
    return tasks_.any_of([task](const Order& one) { return one.id() == task; });
}

// Finds out what the running task computes. @return the rows that it asks for
std::int64_t SimulatedWorker::measure()
{
    const auto& task = tasks_.running().task;
    const auto& plan = task.plan;
    updates_.clear();
    if (std::ranges::any_of(plan->parts, is_cached)) {
        measured_.reset();
        plan_updates();
    } else if (measured_ != plan) {
        measured_ = plan;
        rows_.clear();
        for (const auto& part : plan->parts) rows_.push_back(recipes_->load(task.worker, part));
    }
    const auto& budget = task.control.budget;
    if (budget.samples > 0) return recipes_->batches().samples(budget, plan->parts[0]);
    return std::accumulate(rows_.begin(), rows_.end(), std::int64_t{0});
}

// Finds out which cached gradients the running task computes, and evicts those that it does not
// name.
void SimulatedWorker::plan_updates()
{
    const auto& task = tasks_.running().task;
    rows_.assign(task.plan->parts.size(), 0);
    std::map<int, Version> versions;
    for (const auto& [block, cached] : cache_) versions[block] = cached->gradient.version;
    bool goes_on = false;
    for (std::size_t part = 0; part < rows_.size(); ++part) {
        const auto& items = task.plan->parts[part].items;
        std::erase_if(cache_, [&](const auto& cached) {
            return std::ranges::find(items, cached.first, &Item::block) == items.end();
        });
        for (const auto& [item, version] :
             cache_updates(task.plan->parts[part], task.inputs, versions, begun_)) {
            auto rows = recipes_->batches().samples(item->block);
            if (begun_ == std::pair(item->block, version)) {
                rows -= begun_rows_;
                goes_on = true;
            }
            updates_.push_back({item, version, rows});
            rows_[part] += rows;
        }
    }
    if (!goes_on) begun_.reset();
}

// Keeps what the running task, which ends before its time, has computed of cached gradients.
void SimulatedWorker::leave_off(Seconds now)
{
    if (updates_.empty()) return;
    const auto row = seconds_for(1);
    auto rows = now <= from_ ? 0
                : row > 0    ? static_cast<std::int64_t>((now - from_) / row)
                             : std::numeric_limits<std::int64_t>::max();
    for (const auto& [item, version, left] : updates_) {
        if (rows < left) {
            if (rows == 0) return;
            const auto all = recipes_->batches().samples(item->block);
            begun_ = {item->block, version};
            begun_rows_ = all - left + rows;
            return;
        }
        rows -= left;
        cache(*item, version);
    }
}

void SimulatedWorker::cache(const Item& item, Version version)
{
    const auto& [task, points, sent] = tasks_.running();
    const auto input = std::ranges::find(task.inputs, version) - task.inputs.begin();
    cache_[item.block] =
        recipes_->cache(task.worker, item.block, version, points[static_cast<std::size_t>(input)],
                        task.control.key(draw_, version));
    if (begun_ == std::pair(item.block, version)) begun_.reset();
}

void SimulatedWorker::begin(Seconds now)
{
    tasks_.begin();
    part_ = 0;
    idle_ = now - idle_since_;
    const auto& control = tasks_.running().task.control;
    draw_ = control.draw == own_count ? count_++ : control.draw;
    const double share =
        static_cast<double>(measure()) / static_cast<double>(recipes_->batches().samples());
    straggling_.begin(models_, machine_, draw_, share, now);
    const auto ends = now + control.budget.seconds;
    delay_ = std::max(0.0, std::min(straggling_.delayed_until(), ends) - now);
    from_ = std::max(now, straggling_.delayed_until());
    if (control.budget.limited())
        compute_limited(ends);
    else
        compute(from_);
}

// Computes a task with a budget, which has one part and one item: whole micro-batches, or steps of
// descent, until it has its samples or its time is over.
void SimulatedWorker::compute_limited(Seconds ends)
{
    const auto& task = tasks_.running().task;
    const auto& budget = task.control.budget;
    const auto& item = task.plan->parts[0].items[0];
    const bool descends = item.operation == Item::Operation::descent;
    const auto row = seconds_for(1);
    if (row <= 0 && budget.samples == 0)
        throw Failure("tasks that end with their time need rows that take some: give --row-time");
    const auto whole =
        descends ? recipes_->batches().samples(item.block) : recipes_->micro_batch(budget);
    limited_ = budget.samples;
    const auto asked = recipes_->batches().samples(budget, task.plan->parts[0]);
    auto done = from_ + static_cast<double>(asked) * row;
    if (budget.samples == 0 || done > ends) {
        // The small number makes a micro-batch that ends exactly at the limit count despite
        // rounding.
        const auto count = std::floor((ends - from_) / (static_cast<double>(whole) * row) + 1e-9);
        limited_ =
            std::max<std::int64_t>(0, static_cast<std::int64_t>(count)) * (descends ? 1 : whole);
        done = ends;
    }
    computed_limited_ = std::max(0.0, done - from_);
    complete_at_ = done + straggling_.message_delay();
}

// Where the parts of the next message end.
std::size_t SimulatedWorker::parts_end() const
{
    const auto& plan = *tasks_.running().task.plan;
    return plan.each_when_ready ? part_ + 1 : plan.parts.size();
}

// Computes the parts of the next message, beginning at the time `from`.
void SimulatedWorker::compute(Seconds from)
{
    std::int64_t rows = 0;
    for (auto part = part_; part < parts_end(); ++part) rows += rows_[part];
    complete_at_ = from + seconds_for(rows) + straggling_.message_delay();
}

Arrival SimulatedWorker::contribution(std::size_t part, Seconds now)
{
    const auto& [task, points, sent] = tasks_.running();
    const auto& asked = task.plan->parts[part];
    const bool limited = task.control.budget.limited();
    Recipes::Made made{.worker = task.worker,
                       .part = static_cast<int>(part),
                       .draw = draw_,
                       .samples = limited ? limited_ : recipes_->samples(task, asked),
                       .inputs = points};
    auto [oldest, newest] = versions_of(asked, task.inputs);
    std::vector<Version> versions;
    if (is_cached(asked)) {
        for (const auto& item : asked.items) {
            made.cached.push_back(cache_.at(item.block));
            versions.push_back(made.cached.back()->gradient.version);
        }
        const auto [low, high] = std::ranges::minmax(versions);
        oldest = low;
        newest = high;
    }
    const auto samples = made.samples;
    return {{.worker = task.worker,
             .part = static_cast<int>(part),
             .task = task.task,
             .draw = draw_,
             .samples = samples,
             .oldest = oldest,
             .newest = newest,
             .compute = limited ? computed_limited_ : seconds_for(rows_[part]),
             .delay = std::exchange(delay_, 0) + straggling_.message_delay(),
             .idle = std::exchange(idle_, 0),
             .send = send_},
            std::move(versions),
            sent,
            now,
            recipes_->payload(task.worker, asked),
            recipes_->add(task, std::move(made))};
}

std::vector<Arrival> SimulatedWorker::finish(Seconds now)
{
    for (const auto& [item, version, left] : updates_) cache(*item, version);
    updates_.clear();
    std::vector<Arrival> arrivals;
    for (const auto end = parts_end(); part_ < end; ++part_)
        arrivals.push_back(contribution(part_, now));
    if (part_ < tasks_.running().task.plan->parts.size()) {
        compute(now);
    } else {
        tasks_.finish();
        ++epoch_;
        idle_since_ = now;
    }
    return arrivals;
}

}  // namespace quorate
