// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "scheme/placement.hpp"

namespace quorate {

/// What synchronous schemes share. A round gives every worker one task at the newest point,
/// receives contributions until they suffice or time is up, makes a step, and closes the round's
/// tasks, so that late answers are dropped. If all workers have answered and no estimate is
/// possible, the round is undecodable.
class SynchronousScheme : public Scheme {
public:
    Needs needs() const override { return layout_.needs; }
    void handle(const Event& event, Seconds now, std::vector<Action>& out) final;

protected:
    /// Without a layout, needs() and plan() say what workers store and compute.
    SynchronousScheme() = default;
    /// @param limit   seconds after which a round ends with what has come; never: no limit
    explicit SynchronousScheme(Layout layout, Seconds limit = never)
        : layout_(std::move(layout)), limit_(limit)
    {
    }
    Layout& layout() { return layout_; }
    const Layout& layout() const { return layout_; }
    std::int64_t samples() const { return layout_.samples; }  // of a round

    /// What a worker is asked.
    struct Task {
        std::shared_ptr<const Plan> plan;
        Versions inputs;
        Budget budget = {};
        std::optional<std::int64_t> draw = {};  // none: the number of the round
    };
    /// The plan of a worker's task in the round that begins.
    virtual std::shared_ptr<const Plan> plan(Worker worker) const
    {
        return layout_.plans.at(static_cast<std::size_t>(worker));
    }
    /// A worker's task in the round that begins. By default its plan at the newest point, without a
    /// limit.
    /// @param version  of the newest point, which is the number of the round from 0
    virtual Task task(Worker worker, Version version) const { return {plan(worker), {version}}; }
    /// A further task for a worker when all have answered and no estimate is possible; without a
    /// plan: no task.
    virtual Task again(Worker, Version) { return {}; }
    struct Further {
        Worker worker;
        Task task;
    };
    /// Further tasks of the running round, for workers that have answered; asked after each message
    /// that is not enough for receive().
    virtual std::vector<Further> further(Version) { return {}; }
    /// Whether the tasks of the next round name the point of this one. Then this round's tasks are
    /// closed after those of the next are dispatched, so that the point stays.
    virtual bool looks_back() const { return false; }
    /// The tasks that are closed then; by default those of the round before.
    virtual Close outlived(Close last) { return last; }
    /// The order in which workers are given their tasks. Workers that are asked first tend to
    /// answer first.
    virtual std::vector<Worker> order(std::vector<Worker> active) const { return active; }
    /// Begins a round. @param version  of its point
    virtual void begin(Version version) = 0;
    /// Receives a contribution of the running round. @return the step, if the quorum is reached
    virtual std::optional<Step> receive(const Contribution& contribution) = 0;

    /// Seconds after which a round ends with what has come; never: it waits for its quorum.
    virtual Seconds limit() const { return limit_; }
    /// Seconds after which the round ends with what has come, if that follows from the
    /// contributions so far: asked after each that is not enough for receive(); nothing: limit()
    /// stays.
    virtual std::optional<Seconds> new_limit() const { return std::nullopt; }
    /// Ends a round whose time is up. If there is no step, this is called again after each further
    /// contribution that is not enough for receive().
    /// @return the step that the contributions so far allow, if any
    virtual std::optional<Step> expire() { return std::nullopt; }

    /// Ends a round in which no worker can answer any more.
    /// @return the step that the contributions allow, if it is good enough
    virtual std::optional<Step> make_do() { return limit() == never ? std::nullopt : expire(); }

    /// Seconds since the tasks of the round were given out.
    Seconds elapsed() const { return now_ - dispatched_; }

    /// Called when the round's step is done, before the next round begins.
    virtual void stepped(const Stepped&) {}
    /// A note for the user, or nothing; asked when tasks are given out.
    virtual std::string say() { return ""; }
    /// The reason why all contributions together allow no step.
    virtual std::string why_undecodable() const { return "all workers have answered"; }

private:
    void dispatch(Version version, std::vector<Action>& out);
    bool dispatch_again(std::vector<Action>& out);
    void give(Worker worker, Task task, std::vector<Action>& out);
    void finish(Step step, std::vector<Action>& out);
    void set_timer(Seconds at, std::vector<Action>& out);

    Layout layout_;
    Seconds limit_ = never;
    std::vector<Worker> active_;
    Version version_ = 0;
    TaskId first_ = 0, next_ = 0;  // tasks of the running round are [first_, next_)
    std::int64_t missing_ = 0;     // contributions of the running round that have not come
    bool expired_ = false;
    Seconds now_ = 0, dispatched_ = 0;
    Seconds timer_ = never;  // when the round ends
};

}  // namespace quorate
