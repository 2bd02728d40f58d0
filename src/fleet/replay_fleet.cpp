// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/replay_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "scheme/whole_items.hpp"

namespace quorate {

std::vector<int> recorded_groups(const trace::Trace& trace)
{
    std::vector<int> groups;
    if (const auto way = trace.text("aggregate"); way == "node" || way == "shares")
        for (const auto& worker : trace.workers) groups.push_back(static_cast<int>(worker.node));
    return groups;
}

ReplayFleet::ReplayFleet(Recipes& recipes, const trace::Trace& trace, std::size_t workers,
                         std::map<Version, Point> points)
    : recipes_(recipes), whole_(std::move(points)), info_(recipes.workers())
{
    info_.resize(std::max(info_.size(), workers));
    const auto nodes = split(trace.text("nodes"), ' ');
    for (std::size_t i = 0; i < info_.size() && i < trace.workers.size(); ++i) {
        const auto& row = trace.workers[i];
        info_[i].rank = static_cast<int>(row.rank);
        if (row.node >= 0 && row.node < std::ssize(nodes) && !nodes[0].empty())
            info_[i].host = nodes[static_cast<std::size_t>(row.node)];
    }
    const auto groups = recorded_groups(trace);
    if (!groups.empty()) aggregation_ = trace.text("aggregate");
    for (std::size_t i = 0; i < groups.size() && i < info_.size(); ++i) {
        info_[i].group = groups[i];
        groups_ = std::max(groups_, groups[i] + 1);
    }
    for (const auto& arrival : trace.arrivals) messages_[arrival.event].push_back(arrival);
    for (auto& [event, message] : messages_) std::ranges::sort(message, {}, &trace::Arrival::part);
    for (const auto& item : trace.items) {
        items_[{item.event, item.part}].push_back(item);
        auto& last = last_named_[item.version];
        last = std::max(last, item.event);
    }
    for (const auto& timer : trace.timers) timers_.emplace(timer.event, timer);
    for (const auto& change : trace.membership) {
        const auto kind = static_cast<trace::Change>(change.kind);
        if (kind == trace::Change::lost)
            lost_.insert(change.event);
        else if (change.event > 0 && kind != trace::Change::reencoded)
            membership_.emplace(change.event, change);
    }
}

void ReplayFleet::refuse(std::int64_t event, const std::string& why) const
{
    throw Failure(fmt::format(
        "event {} of the trace does not fit: {}; replay it with the options and data of its run",
        event, why));
}

void ReplayFleet::dispatch(const Dispatch& task, PointList inputs)
{
    for (std::size_t i = 0; i < task.inputs.size(); ++i)
        if (const auto whole = whole_.find(task.inputs[i]); whole != whole_.end())
            inputs[i] = whole->second;
    for (std::size_t i = 0; i < task.inputs.size(); ++i)
        if (last_named_.contains(task.inputs[i])) points_[task.inputs[i]] = inputs[i];
    open_.insert_or_assign(task.task, std::pair(task, std::move(inputs)));
}

void ReplayFleet::close(Worker, TaskId task) { open_.erase(task); }

std::vector<Change> ReplayFleet::changes(std::int64_t event)
{
    std::vector<Change> all;
    if (is_next(event, trace::Change::apart)) membership_.erase(event++);
    for (; membership_.contains(event) && !is_next(event, trace::Change::apart); ++event) {
        const auto row = membership_.extract(event).mapped();
        all.push_back({static_cast<Change::Kind>(row.kind), static_cast<Worker>(row.worker)});
        now_ = std::max(now_, row.time);
    }
    return all;
}

bool ReplayFleet::is_next(std::int64_t event, trace::Change kind) const
{
    const auto row = membership_.find(event);
    return row != membership_.end() && row->second.kind == static_cast<std::int64_t>(kind);
}

bool ReplayFleet::resumes(std::int64_t event) const
{
    event += is_next(event, trace::Change::apart);
    return is_next(event, trace::Change::resumed) || is_next(event, trace::Change::reset);
}

bool ReplayFleet::joins() const
{
    const auto joined = static_cast<std::int64_t>(trace::Change::joined);
    return std::ranges::any_of(membership_,
                               [&](const auto& row) { return row.second.kind == joined; });
}

CachedList ReplayFleet::cached_of(const Dispatch& task, const trace::Arrival& row)
{
    CachedList cached;
    const auto& part = task.plan->parts[static_cast<std::size_t>(row.part)];
    if (!is_cached(part)) return cached;
    auto items = items_[{row.event, row.part}];
    std::ranges::sort(items, {}, &trace::ItemRow::item);
    if (items.size() != part.items.size())
        refuse(row.event, fmt::format("part {} of task {} has {} items, not {}", row.part, row.task,
                                      part.items.size(), items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto point = points_.find(items[i].version);
        if (point == points_.end())
            refuse(row.event, fmt::format("version {} was never dispatched", items[i].version));
        cached.push_back(recipes_.cache(task.worker, part.items[i].block, items[i].version,
                                        point->second,
                                        task.control.key(row.draw, items[i].version)));
    }
    return cached;
}

// Returns how many whole items a recorded contribution is made of; 0 if its task does not count
// them.
int ReplayFleet::items_of(const Dispatch& task, const trace::Arrival& row) const
{
    const auto& part = task.plan->parts[static_cast<std::size_t>(row.part)];
    if (!takes_whole_items(task.control.budget, part)) return 0;
    const auto items = whole_items(recipes_.batches(), part, row.samples);
    if (!items)
        refuse(row.event,
               fmt::format("the {} samples of task {} end within an item", row.samples, row.task));
    return static_cast<int>(*items);
}

// Makes a recorded contribution, if its task is open.
Arrival ReplayFleet::contribution(const trace::Arrival& row)
{
    auto made = arrival_of(row);
    const auto at = open_.find(row.task);
    if (at == open_.end()) {
        made.handle = recipes_.add_late(static_cast<Worker>(row.worker));
        return made;
    }
    const auto& [task, points] = at->second;
    if (task.worker != row.worker)
        refuse(row.event, fmt::format("task {} is worker {}'s, not worker {}'s", row.task,
                                      task.worker, row.worker));
    if (row.part < 0 || row.part >= static_cast<std::int64_t>(task.plan->parts.size()))
        refuse(row.event, fmt::format("task {} has no part {}", row.task, row.part));
    const auto& part = task.plan->parts[static_cast<std::size_t>(row.part)];
    const auto rows = recipes_.samples(task.control.budget, part);
    if (task.control.budget.seconds == never && rows != row.samples)
        refuse(row.event, fmt::format("part {} of task {} has {} samples, not {}", row.part,
                                      row.task, rows, row.samples));
    if (const auto [oldest, newest] = versions_of(part, task.inputs);
        !is_cached(part) && (oldest != row.version_oldest || newest != row.version))
        refuse(row.event,
               fmt::format("task {} is of version {}, not {}", row.task, newest, row.version));
    made.items = items_of(task, row);
    auto cached = cached_of(task, row);
    for (const auto& one : cached) made.versions.push_back(one->gradient.version);
    made.handle = recipes_.add(task.plan, TaskContext(task, points),
                               {.worker = task.worker,
                                .part = static_cast<int>(row.part),
                                .task = task.task,
                                .local = task.local,
                                .draw = row.draw,
                                .samples = row.samples,
                                .cached = std::move(cached)});
    return made;
}

std::vector<Arrival> ReplayFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    if (stop) return {};
    const auto event_of = [](const auto& rows) {
        return rows.empty() ? std::numeric_limits<std::int64_t>::max() : rows.begin()->first;
    };
    if (const auto event = event_of(membership_);
        event < std::min(event_of(messages_), event_of(timers_))) {
        // The caller then asks for the changes, and would do so for ever.
        if (std::exchange(awaited_, event) == event)
            refuse(event, "members change where nothing else was to come");
        now_ = std::max(now_, membership_.begin()->second.time);
        return {};
    }
    if (messages_.empty() && timers_.empty())
        throw Failure("the trace ends before the last round: use fewer --rounds");
    if (event_of(timers_) < event_of(messages_)) {
        const auto event = event_of(timers_);
        if (until == never) refuse(event, "no timer runs");
        timers_.erase(timers_.begin());
        now_ = std::max(now_, until);
        return {};
    }
    const auto message = std::move(messages_.extract(messages_.begin()).mapped());
    std::vector<Arrival> arrivals;
    for (const auto& row : message) {
        now_ = std::max(now_, row.arrived);
        bytes_received_ += row.bytes;
        arrivals.push_back(contribution(row));
    }
    std::erase_if(points_, [&](const auto& point) {
        return last_named_.at(point.first) <= message.front().event;
    });
    return arrivals;
}

}  // namespace quorate
