// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/simulated_worker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/error.hpp"
#include "compute/held_gradients.hpp"
#include "scheme/whole_items.hpp"

namespace quorate {

namespace {

// Makes a micro-batch or item that ends exactly at the limit count despite rounding.
constexpr double tolerance = 1e-9;

}  // namespace

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
    cached_.reset();
    held_.clear();
    plan_.reset();
    idle_since_ = now;
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
    auto& order = tasks_.running();
    if (auto plan = std::move(order.plan); plan && plan != plan_) measure(std::move(plan));
    if (cached_) {
        cached_->updates.clear();
        if (cached_->wanted) plan_updates();
    }
    if (holds_) leave_out_held();
    const auto& budget = order.context->control.budget;
    if (budget.samples > 0) return recipes_->batches().samples(budget, plan_->parts[0]);
    std::int64_t rows = 0;
    for (const auto& load : loads_) rows += load.rows;
    return rows;
}

void SimulatedWorker::measure(std::shared_ptr<const Plan> plan)
{
    plan_ = std::move(plan);
    const bool caches = std::ranges::any_of(plan_->parts, is_cached);
    if (caches && !cached_) cached_ = std::make_unique<Cached>();
    if (cached_) cached_->wanted = caches;
    holds_ = std::ranges::any_of(plan_->parts, is_held);
    loads_.clear();
    for (const auto& part : plan_->parts)
        loads_.push_back({recipes_->load(worker_, part), recipes_->batches().samples(part),
                          recipes_->payload(worker_, part)});
}

// Finds out which cached gradients the running task computes, and evicts those that it does not
// name.
void SimulatedWorker::plan_updates()
{
    const auto& inputs = tasks_.running().context->inputs;
    auto& [wanted, gradients, updates, begun, begun_rows] = *cached_;
    std::map<int, Version> versions;
    for (const auto& [block, cached] : gradients) versions[block] = cached->gradient.version;
    bool goes_on = false;
    for (std::size_t part = 0; part < loads_.size(); ++part) {
        const auto& items = plan_->parts[part].items;
        loads_[part].rows = 0;
        std::erase_if(gradients, [&](const auto& cached) {
            return std::ranges::find(items, cached.first, &Item::block) == items.end();
        });
        for (const auto& [item, version] :
             cache_updates(plan_->parts[part], inputs, versions, begun)) {
            auto rows = recipes_->batches().samples(item->block);
            if (begun == std::pair(item->block, version)) {
                rows -= begun_rows;
                goes_on = true;
            }
            updates.push_back({item, version, rows});
            loads_[part].rows += rows;
        }
    }
    if (!goes_on) begun.reset();
}

// Finds out which gradients the running task computes because the worker does not hold them, and
// drops those of other points.
void SimulatedWorker::leave_out_held()
{
    const auto& inputs = tasks_.running().context->inputs;
    std::erase_if(held_, [&](const auto& one) {
        return std::ranges::find(inputs, one.second) == inputs.end();
    });
    for (std::size_t part = 0; part < loads_.size(); ++part) {
        if (!is_held(plan_->parts[part])) continue;
        loads_[part].rows = 0;
        for (const auto& item : plan_->parts[part].items)
            if (!held_.contains({item.block, inputs[static_cast<std::size_t>(item.input)]}))
                loads_[part].rows += recipes_->batches().samples(item.block);
    }
}

// Keeps what the running task, which ends before its time, has computed of cached gradients.
void SimulatedWorker::leave_off(Seconds now)
{
    if (!cached_) return;
    const auto row = seconds_for(1);
    auto rows = now <= from_ ? 0
                : row > 0    ? static_cast<std::int64_t>((now - from_) / row)
                             : std::numeric_limits<std::int64_t>::max();
    for (const auto& [item, version, left] : cached_->updates) {
        if (rows < left) {
            if (rows == 0) return;
            const auto all = recipes_->batches().samples(item->block);
            cached_->begun = {item->block, version};
            cached_->begun_rows = all - left + rows;
            return;
        }
        rows -= left;
        cache(*item, version);
    }
}

void SimulatedWorker::cache(const Item& item, Version version)
{
    const auto& context = *tasks_.running().context;
    const auto input = std::ranges::find(context.inputs, version) - context.inputs.begin();
    cached_->gradients[item.block] = recipes_->cache(
        worker_, item.block, version, context.points[static_cast<std::size_t>(input)],
        context.control.key(draw_, version));
    if (cached_->begun == std::pair(item.block, version)) cached_->begun.reset();
}

Seconds SimulatedWorker::begin(Seconds now)
{
    tasks_.begin();
    part_ = 0;
    idle_ = now - idle_since_;
    const auto& control = tasks_.running().context->control;
    draw_ = control.draw == own_count ? count_++ : control.draw;
    const double share =
        static_cast<double>(measure()) / static_cast<double>(recipes_->batches().samples());
    straggling_.begin(*models_, machine_, draw_, share, now);
    const auto ends = now + control.budget.seconds;
    delay_ = std::max(0.0, std::min(straggling_.delayed_until(), ends) - now);
    from_ = std::max(now, straggling_.delayed_until());
    if (control.budget.limited())
        compute_limited(ends);
    else
        compute(from_);
    return complete_at_;
}

// Computes a task with a budget, which has one part: whole items, or of one item whole
// micro-batches or steps of descent, until it has its samples or its time is over.
void SimulatedWorker::compute_limited(Seconds ends)
{
    const auto& budget = tasks_.running().context->control.budget;
    const auto& part = plan_->parts[0];
    const auto row = seconds_for(1);
    if (row <= 0 && budget.samples == 0)
        throw Failure("tasks that end with their time need rows that take some: give --row-time");
    const auto asked = recipes_->batches().samples(budget, part);
    auto done = from_ + static_cast<double>(asked) * row;
    limited_ = budget.samples;
    if (takes_whole_items(budget, part)) {
        limited_ = whole_items_within((ends - from_) / row);
        if (limited_ < asked) done = ends;
    } else if (budget.samples == 0 || done > ends) {
        const auto& item = part.items[0];
        const bool descends = item.operation == Item::Operation::descent;
        const auto whole =
            descends ? recipes_->batches().samples(item.block) : recipes_->micro_batch(budget);
        // Where rows take no time, the delay alone is too long.
        const auto count =
            row > 0 ? std::floor((ends - from_) / (static_cast<double>(whole) * row) + tolerance)
                    : 0;
        limited_ =
            std::max<std::int64_t>(0, static_cast<std::int64_t>(count)) * (descends ? 1 : whole);
        done = ends;
    }
    computed_limited_ = std::max(0.0, done - from_);
    complete_at_ = done + straggling_.message_delay();
}

// Returns the samples of the first items, as many as fit, whole, into so many rows.
std::int64_t SimulatedWorker::whole_items_within(double rows) const
{
    std::int64_t samples = 0;
    for (const auto& item : plan_->parts[0].items) {
        const auto more = samples + recipes_->batches().samples(item.block);
        if (static_cast<double>(more) > rows * (1 + tolerance)) break;
        samples = more;
    }
    return samples;
}

// Where the parts of the next message end.
std::size_t SimulatedWorker::parts_end() const
{
    return loads_.size() > 1 && plan_->each_when_ready ? part_ + 1 : loads_.size();
}

// Computes the parts of the next message, beginning at the time `from`.
void SimulatedWorker::compute(Seconds from)
{
    std::int64_t rows = 0;
    for (std::size_t part = part_; part < parts_end(); ++part) rows += loads_[part].rows;
    complete_at_ = from + seconds_for(rows) + straggling_.message_delay();
}

// Looks at the plan only if it must: what there is to tell follows from its loads mostly.
Arrival SimulatedWorker::contribution(std::size_t part, Seconds now)
{
    const auto& order = tasks_.running();
    const auto& context = *order.context;
    const auto& load = loads_[part];
    const bool limited = context.control.budget.limited();
    Recipes::Made made{.worker = worker_,
                       .part = static_cast<int>(part),
                       .task = order.task,
                       .local = order.local,
                       .draw = draw_,
                       .samples = limited ? limited_ : load.samples};
    auto oldest = context.inputs[0], newest = oldest;
    if (context.inputs.size() > 1)
        std::tie(oldest, newest) = versions_of(plan_->parts[part], context.inputs);
    std::vector<Version> versions;
    if (cached_ && is_cached(plan_->parts[part])) {
        for (const auto& item : plan_->parts[part].items) {
            made.cached.push_back(cached_->gradients.at(item.block));
            versions.push_back(made.cached.back()->gradient.version);
        }
        const auto [low, high] = std::ranges::minmax(versions);
        oldest = low;
        newest = high;
    }
    if (holds_ && is_held(plan_->parts[part]))
        for (const auto& item : plan_->parts[part].items)
            held_.emplace(item.block, context.inputs[static_cast<std::size_t>(item.input)]);
    const auto samples = made.samples;
    std::int64_t items = 0;
    if (limited && takes_whole_items(context.control.budget, plan_->parts[part]))
        items = whole_items(recipes_->batches(), plan_->parts[part], samples).value();
    return {{.worker = worker_,
             .part = static_cast<int>(part),
             .task = order.task,
             .draw = draw_,
             .samples = samples,
             .oldest = oldest,
             .newest = newest,
             .items = static_cast<int>(items),
             .compute = limited ? computed_limited_ : seconds_for(load.rows),
             .delay = std::exchange(delay_, 0) + straggling_.message_delay(),
             .idle = std::exchange(idle_, 0),
             .send = send_},
            std::move(versions),
            order.sent,
            now,
            load.bytes,
            recipes_->add(plan_, context, std::move(made))};
}

std::vector<Arrival> SimulatedWorker::finish(Seconds now)
{
    if (cached_) {
        for (const auto& [item, version, left] : cached_->updates) cache(*item, version);
        cached_->updates.clear();
    }
    std::vector<Arrival> arrivals;
    const auto end = parts_end();
    arrivals.reserve(end - part_);
    for (; part_ < end; ++part_) arrivals.push_back(contribution(part_, now));
    if (part_ < loads_.size()) {
        compute(now);
    } else {
        tasks_.finish();
        ++epoch_;
        idle_since_ = now;
    }
    return arrivals;
}

}  // namespace quorate
