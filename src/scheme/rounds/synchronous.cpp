// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/rounds/synchronous.hpp"

#include <algorithm>

namespace quorate {

namespace {

constexpr int round_end = 0;  // the only timer

}  // namespace

void SynchronousScheme::handle(const Event& event, Seconds now, std::vector<Action>& out)
{
    now_ = now;
    if (const auto* start = std::get_if<Start>(&event)) {
        active_ = order(start->active);
        dispatch(0, out);
    } else if (const auto* done = std::get_if<Stepped>(&event)) {
        stepped(*done);
        dispatch(done->version, out);
    } else if (std::holds_alternative<Deadline>(event)) {
        expired_ = true;
        timer_ = never;
        if (auto step = expire()) finish(std::move(*step), out);
    } else if (std::holds_alternative<Quiescent>(event)) {
        if (auto step = make_do()) finish(std::move(*step), out);
    } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
        for (const auto& contribution : arrived->contributions) {
            --missing_;
            auto step = receive(contribution);
            if (const auto changed = step || expired_ ? std::nullopt : new_limit())
                set_timer(dispatched_ + *changed, out);
            if (!step && expired_) step = expire();
            if (step) {
                finish(std::move(*step), out);
                return;
            }
        }
        for (auto& [worker, task] : further(version_)) give(worker, std::move(task), out);
        if (missing_ == 0 && !dispatch_again(out)) out.push_back(Undecodable{why_undecodable()});
    }
}

void SynchronousScheme::dispatch(Version version, std::vector<Action>& out)
{
    dispatched_ = now_;
    version_ = version;
    begin(version);
    const auto before = std::exchange(first_, next_);
    missing_ = 0;
    expired_ = false;
    out.reserve(out.size() + active_.size() + 3);
    for (const auto worker : active_) give(worker, task(worker, version), out);
    if (auto text = say(); !text.empty()) out.push_back(Note{std::move(text)});
    if (looks_back() && version > 0)
        if (const auto closed = outlived({before, first_ - 1}); closed.first <= closed.last)
            out.push_back(closed);
    set_timer(now_ + limit(), out);
}

void SynchronousScheme::give(Worker worker, Task task, std::vector<Action>& out)
{
    missing_ += std::ssize(task.plan->parts);
    out.push_back(
        Dispatch{.task = next_++,
                 .worker = worker,
                 .plan = std::move(task.plan),
                 .inputs = std::move(task.inputs),
                 .control = {.draw = task.draw.value_or(version_), .budget = task.budget}});
}

// Gives out further tasks when all have answered. @return whether any worker was given one
bool SynchronousScheme::dispatch_again(std::vector<Action>& out)
{
    for (const auto worker : active_)
        if (auto other = again(worker, version_); other.plan) give(worker, std::move(other), out);
    if (auto text = say(); !text.empty()) out.push_back(Note{std::move(text)});
    return missing_ > 0;
}

void SynchronousScheme::finish(Step step, std::vector<Action>& out)
{
    out.push_back(std::move(step));
    if (!looks_back()) out.push_back(Close{first_, next_ - 1});
    set_timer(never, out);
}

// Has the round end at that point in time. It never ends at once, though the time may be over: a
// replay then finds the end where the trace has the timer, whatever its clock says.
void SynchronousScheme::set_timer(Seconds at, std::vector<Action>& out)
{
    if (at != timer_) out.push_back(SetTimer{round_end, at});
    timer_ = at;
}

}  // namespace quorate
