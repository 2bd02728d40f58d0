// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/replay_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace quorate {

ReplayFleet::ReplayFleet(Recipes& recipes, const trace::Trace& trace)
    : recipes_(recipes), info_(recipes.workers())
{
    for (std::size_t i = 0; i < info_.size() && i < trace.workers.size(); ++i)
        info_[i].rank = static_cast<int>(trace.workers[i].rank);
    for (const auto& arrival : trace.arrivals) messages_[arrival.event].push_back(arrival);
    for (auto& [event, message] : messages_) std::ranges::sort(message, {}, &trace::Arrival::part);
    for (const auto& timer : trace.timers) timers_.emplace(timer.event, timer);
}

void ReplayFleet::refuse(std::int64_t event, const std::string& why) const
{
    throw Failure(fmt::format(
        "event {} of the trace does not fit: {}; replay it with the options and data of its run",
        event, why));
}

void ReplayFleet::dispatch(const Dispatch& task, PointList inputs)
{
    open_.emplace(task.task, Order{task, std::move(inputs)});
}

void ReplayFleet::close(TaskId first, TaskId last)
{
    open_.erase(open_.lower_bound(first), open_.upper_bound(last));
}

std::vector<Arrival> ReplayFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    if (stop) return {};
    const auto event_of = [](const auto& rows) {
        return rows.empty() ? std::numeric_limits<std::int64_t>::max() : rows.begin()->first;
    };
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
        const auto at = open_.find(row.task);
        std::size_t handle = 0;
        if (at != open_.end()) {
            const auto& [task, points] = at->second;
            if (task.worker != row.worker)
                refuse(row.event, fmt::format("task {} is worker {}'s, not worker {}'s", row.task,
                                              task.worker, row.worker));
            if (row.part < 0 || row.part >= static_cast<std::int64_t>(task.plan->parts.size()))
                refuse(row.event, fmt::format("task {} has no part {}", row.task, row.part));
            const auto part = static_cast<int>(row.part);
            const auto rows =
                recipes_.batches().samples(task.plan->parts[static_cast<std::size_t>(part)]);
            if (rows != row.samples)
                refuse(row.event, fmt::format("part {} of task {} has {} rows, not {}", part,
                                              row.task, rows, row.samples));
            handle = recipes_.add(task.worker, task.plan, part, task.draw, points);
        } else {
            handle = recipes_.add(static_cast<Worker>(row.worker), nullptr, 0, row.draw, {});
        }
        arrivals.push_back({.worker = static_cast<Worker>(row.worker),
                            .task = row.task,
                            .part = static_cast<int>(row.part),
                            .draw = row.draw,
                            .samples = row.samples,
                            .oldest = row.version_oldest,
                            .newest = row.version,
                            .sent = row.sent,
                            .arrived = row.arrived,
                            .compute = row.compute,
                            .delay = row.delay,
                            .idle = row.idle,
                            .send = row.send,
                            .bytes = row.bytes,
                            .handle = handle});
    }
    return arrivals;
}

}  // namespace quorate
