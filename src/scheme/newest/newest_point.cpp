// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/newest/newest_point.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheme/batches.hpp"

namespace quorate {

namespace {

constexpr int end_of_round = 0;  // the only timer
// Tasks of each worker that may be out of time, one after the other, before all get tasks without a
// limit.
constexpr std::int64_t failures_in_a_row = 100;

std::vector<std::int64_t> task_samples(const OwnPartitions& own, const Problem& problem)
{
    const Batches batches(own.needs, problem.seed, problem.batch);
    std::vector<std::int64_t> samples;
    for (int block = 0; block < problem.workers; ++block) samples.push_back(batches.samples(block));
    return samples;
}

}  // namespace

std::int64_t samples_of_a_task(const Problem& problem)
{
    return std::ranges::max(task_samples(OwnPartitions(problem), problem));
}

NewestPoint::NewestPoint(const Problem& problem, std::optional<Restarts> restarts, std::string note,
                         std::int64_t local_steps)
    : own_(problem), local_steps_(local_steps), samples_(task_samples(own_, problem)),
      restarts_(std::move(restarts)), note_(std::move(note)), state_(problem.workers, State::idle)
{
    if (local_steps == 0) return;
    own_.plans = descending(own_.plans);
    own_.needs.displaces = true;
}

void NewestPoint::handle(const Event& event, Seconds now, std::vector<Action>& out)
{
    now_ = now;
    if (const auto* start = std::get_if<Start>(&event)) {
        active_ = start->active;
        begin_round(out);
    } else if (const auto* done = std::get_if<Stepped>(&event)) {
        newest_ = done->version;
        begin_round(out);
    } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
        for (const auto& contribution : arrived->contributions)
            if (receive(contribution, out)) return;
    } else if (std::holds_alternative<Deadline>(event)) {
        expired_ = true;
        finish(expire(), out);
    } else if (std::holds_alternative<Quiescent>(event)) {
        if (!finish(expire(), out)) begin_again(out);
    }
}

void NewestPoint::begin_round(std::vector<Action>& out)
{
    begin();
    expired_ = false;
    first_ = next_;
    std::ranges::fill(state_, State::idle);
    running_ = 0;
    for (const auto worker : active_)
        if (wants(worker)) give(worker, out);
    if (auto text = say(); !text.empty()) out.push_back(Note{std::move(text)});
    if (const auto seconds = limit(); seconds != never)
        out.push_back(SetTimer{end_of_round, now_ + seconds});
}

// Gives out further tasks of a round that has none left, if the scheme has any.
void NewestPoint::begin_again(std::vector<Action>& out)
{
    again();
    for (const auto worker : active_)
        if (state_[worker] == State::idle && wants(worker)) give(worker, out);
}

void NewestPoint::give(Worker worker, std::vector<Action>& out)
{
    const auto i = static_cast<std::size_t>(worker);
    Budget budget{.samples = local_steps_};
    if (restarts_ && failures_ < failures_in_a_row * std::ssize(active_))
        if (const auto limit = restarts_->next(worker); limit != never)
            budget = {.samples = samples_[i], .seconds = limit};
    state_[i] = budget.seconds != never ? State::limited : State::free;
    ++running_;
    out.push_back(own_.task(next_++, worker, newest_, {.draw = own_count, .budget = budget}));
}

// Receives a contribution. @return whether it ends the round
bool NewestPoint::receive(const Contribution& contribution, std::vector<Action>& out)
{
    const auto worker = contribution.worker;
    auto& state = state_[worker];
    const bool complete = state != State::limited || contribution.samples >= samples_[worker];
    if (restarts_) restarts_->ended(worker, contribution.delay + contribution.compute, complete);
    state = State::idle;
    --running_;
    std::optional<Step> step;
    if (complete) {
        failures_ = 0;
        step = receive(contribution);
        if (!step && expired_) step = expire();
    } else {
        out.emplace_back(Close{contribution.task, contribution.task});
        if (++failures_ == failures_in_a_row * std::ssize(active_) && !std::exchange(warned_, true))
            out.push_back(Note{fmt::format(
                "{} tasks in a row took longer than --restart-after: they go on without a limit "
                "until one is complete; use a longer one",
                failures_)});
        step = fail(worker);
    }
    if (finish(std::move(step), out)) return true;
    if (wants(worker))
        give(worker, out);
    else if (running_ == 0)
        begin_again(out);
    return false;
}

// Ends the round if there is a step. @return whether there is one
bool NewestPoint::finish(std::optional<Step> step, std::vector<Action>& out)
{
    if (!step) return false;
    out.push_back(std::move(*step));
    out.emplace_back(Close{first_, next_ - 1});
    if (limit() != never) out.push_back(SetTimer{end_of_round, never});
    return true;
}

}  // namespace quorate
