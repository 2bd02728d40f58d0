// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <utility>

#include "scheme/newest/restarts.hpp"
#include "scheme/placement.hpp"

namespace quorate {

/// Returns the samples of a task, the most that any worker has, where each gives its share of the
/// batch.
std::int64_t samples_of_a_task(const Problem& problem);

/// What schemes share whose workers compute task after task at the newest point: worker i holds
/// partition i, and whoever has answered takes another task of it while the scheme wants more. A
/// step cancels what still runs. Delays and samples are keyed by the worker's own count of tasks,
/// so that a task which is begun anew draws a new delay.
class NewestPoint : public Scheme {
public:
    /// @param restarts     the limits of time of tasks; none: they have no limit
    /// @param note         for the user, when the first round begins; empty: none
    /// @param local_steps  that a task is; 0: tasks are gradients. Steps have no limit of time
    NewestPoint(const Problem& problem, std::optional<Restarts> restarts, std::string note = "",
                std::int64_t local_steps = 0);

    Needs needs() const override { return own_.needs; }
    void handle(const Event& event, Seconds now, std::vector<Action>& out) final;

protected:
    /// Begins a round, before its tasks are given out.
    virtual void begin() = 0;
    /// Whether a worker is to have a task, or another one, now.
    virtual bool wants(Worker worker) = 0;
    /// Receives a contribution that is complete. @return the step, if there is one now
    virtual std::optional<Step> receive(const Contribution& contribution) = 0;
    /// Takes note of a task that was out of time. @return the step, if there is one now
    virtual std::optional<Step> fail(Worker) { return std::nullopt; }
    /// Seconds after which a round ends with what has come, if there is anything; never: it does
    /// not.
    virtual Seconds limit() const { return never; }
    /// Ends a round whose time is over, or in which nobody can answer any more. @return the step,
    /// if there is one
    virtual std::optional<Step> expire() { return std::nullopt; }
    /// Lets workers have further tasks, in a round that has neither tasks left nor enough
    /// contributions.
    virtual void again() {}
    /// A note for the user, or nothing; asked when a round begins.
    virtual std::string say() { return std::exchange(note_, ""); }

    const OwnPartitions& own() const { return own_; }
    const Restarts* restarts() const { return restarts_ ? &*restarts_ : nullptr; }

private:
    // What a worker does: nothing, or a task with or without a limit of time.
    enum class State : std::uint8_t { idle, limited, free };

    void begin_round(std::vector<Action>& out);
    void begin_again(std::vector<Action>& out);
    void give(Worker worker, std::vector<Action>& out);
    bool receive(const Contribution& contribution, std::vector<Action>& out);
    bool finish(std::optional<Step> step, std::vector<Action>& out);

    OwnPartitions own_;
    std::int64_t local_steps_;
    std::vector<std::int64_t> samples_;  // of a task, by worker
    std::optional<Restarts> restarts_;
    std::string note_;
    std::vector<Worker> active_;
    std::vector<State> state_;  // by worker
    int running_ = 0;           // tasks of the round that are not answered
    Version newest_ = 0;
    TaskId first_ = 0, next_ = 0;  // tasks of the running round are [first_, next_)
    std::int64_t failures_ = 0;    // since the last task that was complete
    Seconds now_ = 0;
    bool expired_ = false, warned_ = false;
};

}  // namespace quorate
