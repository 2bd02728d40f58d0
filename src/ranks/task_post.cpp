// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/task_post.hpp"

#include <algorithm>

#include "transport/clock.hpp"

namespace quorate {

void TaskPost::dispatch(const Dispatch& task, PointList inputs)
{
    auto& box = boxes_.at(static_cast<std::size_t>(task.worker));
    if (!membership_.is_here(task.worker)) return;
    if (membership_.is_loading(task.worker)) {
        box.unready.emplace_back(task, std::move(inputs));
        return;
    }
    auto order = shared(task, std::move(inputs));
    order->message.recipients.push_back({task.worker, task.task, task.local});
    // The latest task wins: it takes the place of those that wait to be sent. A task that follows
    // others replaces only those that would repeat.
    std::erase_if(box.waiting, [&](const Order& waiting) {
        return task.control.replaces(waiting.shared->message.control);
    });
    box.waiting.push_back({task.task, std::move(order)});
    if (!std::exchange(box.queued, true)) queue_.push_back(task.worker);
}

// The fresh task that a worker's task can share its message with; makes one if there is none.
std::shared_ptr<TaskPost::SharedTask> TaskPost::shared(const Dispatch& task, PointList inputs)
{
    const auto& loaded = membership_.loaded(task.worker);
    const auto same = [&](const auto& shared) {
        return shared->support == loaded.support && shared->message.shard == loaded.shard &&
               shared->plan == task.plan && shared->message.control == task.control &&
               shared->points == inputs;
    };
    if (const auto at = std::ranges::find_if(fresh_, same); at != fresh_.end()) return *at;
    auto made = std::make_shared<SharedTask>();
    made->message.shard = loaded.shard;
    made->message.control = task.control;
    made->message.plan = *task.plan;
    for (const auto version : task.inputs) made->message.inputs.push_back({version, {}});
    made->plan = task.plan;
    made->points = std::move(inputs);
    made->support = loaded.support;
    fresh_.push_back(made);
    return made;
}

void TaskPost::close(Worker worker, TaskId task)
{
    auto& box = of(worker);
    std::erase_if(box.unready, [&](const auto& one) { return one.first.task == task; });
    std::erase_if(box.waiting, [&](const auto& order) { return order.task == task; });
    leaders_.forget(worker, task);
    if (box.sent.empty() || box.sent.back().first != task) return;
    if (box.cancel < 0) cancelled_.push_back(worker);
    box.cancel = task;
}

void TaskPost::forget(Worker worker)
{
    auto& box = of(worker);
    box.unready.clear();
    box.waiting.clear();
    box.known.clear();
    box.sent.clear();
    box.cancel = -1;
}

void TaskPost::has_loaded(Worker worker)
{
    for (auto& [task, inputs] : std::exchange(of(worker).unready, {}))
        dispatch(task, std::move(inputs));
}

void TaskPost::send()
{
    fresh_.clear();
    std::erase_if(queue_, [this](Worker worker) {
        send_next(worker);
        auto& box = of(worker);
        box.queued = !box.waiting.empty();
        return !box.queued;
    });
    std::erase_if(cancelled_, [this](Worker worker) {
        if (of(worker).cancel >= 0) send_next(worker);
        return of(worker).cancel < 0;
    });
}

void TaskPost::send_next(Worker worker)
{
    auto& box = of(worker);
    if (!membership_.is_here(worker) || membership_.is_loading(worker)) return;
    if (!box.sending.has_left()) return;
    const bool replaced =
        !box.waiting.empty() && !box.waiting.front().shared->message.control.follows();
    if (box.cancel >= 0 && !replaced) {
        const bool answered = box.sent.empty() || box.sent.back().first > box.cancel;
        const auto last = std::exchange(box.cancel, -1);
        if (!answered) {
            box.sending = mailbox_.send(membership_.rank(worker), transport::Tag::cancel,
                                        encode_values(mailbox_.pool(), last));
            return;
        }
    }
    if (box.waiting.empty()) return;
    box.cancel = -1;
    const auto order = std::move(box.waiting.front());
    box.waiting.pop_front();
    send_task(worker, order.task, *order.shared);
    box.sent.emplace_back(order.task, clock_seconds());
    box.known.clear();
    for (const auto& input : order.shared->message.inputs) box.known.push_back(input.version);
}

// How an input of a task comes to a worker.
TaskMessage::Travel TaskPost::travel(Worker worker, Version version, const Point& point)
{
    using enum TaskMessage::Travel;
    // A point may still wait for its turn to go to the leader, so the worker need not have it.
    if (!brings_points_ || leaders_.lead(worker)) return by_leader;
    const auto& there = of(worker).known;
    if (std::find(there.begin(), there.end(), version) != there.end()) return known;
    const bool reads = membership_.workers()[static_cast<std::size_t>(worker)].shared;
    return reads && memory_.name(point) != 0 ? shared : packed;
}

// Sends a task. Its message is made once for equal workers.
void TaskPost::send_task(Worker worker, TaskId task, SharedTask& shared)
{
    auto& inputs = shared.message.inputs;
    // The worker drops what it had to do before, so nothing of that need be handed out again.
    if (leaders_.lead(worker) && !shared.message.control.follows()) leaders_.forget(worker);
    std::vector<TaskMessage::Travel> travels;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& point = shared.points[i];
        travels.push_back(travel(worker, inputs[i].version, point));
        if (brings_points_ && travels.back() == TaskMessage::Travel::by_leader)
            leaders_.hand_out(worker, task, inputs[i].version, point);
        if (travels.back() != TaskMessage::Travel::shared) continue;
        memory_.lend(point, membership_.rank(worker));
        mailbox_.count(shared.support->size() * bytes_of(wire_));
    }
    auto at = std::ranges::find(shared.encoded, travels, [](const auto& one) { return one.first; });
    if (at == shared.encoded.end()) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            inputs[i].travel = travels[i];
            inputs[i].block = memory_.name(shared.points[i]);
        }
        auto bytes = encode(shared.message, {shared.points.data(), shared.points.size()},
                            *shared.support, wire_, mailbox_.pool());
        at = shared.encoded.emplace(at, std::move(travels), std::move(bytes));
    }
    of(worker).sending = mailbox_.send(membership_.rank(worker), transport::Tag::task, at->second);
}

std::optional<Seconds> TaskPost::sent_at(Worker worker, TaskId task)
{
    auto& sent = of(worker).sent;
    while (!sent.empty() && sent.front().first < task) sent.pop_front();
    if (sent.empty()) return std::nullopt;
    return sent.front().second;
}

}  // namespace quorate
