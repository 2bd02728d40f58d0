// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "scheme/scheme.hpp"

namespace quorate {

/// What synchronous schemes share: a round gives every worker one task at the newest point, receives
/// contributions until they suffice or time is up, steps, and closes the round's tasks: late answers
/// are dropped. When all have answered and no estimate is possible, the round is undecodable.
class SynchronousScheme : public Scheme {
public:
    void handle(const Event& event, Seconds now, std::vector<Action>& out) final;

protected:
    /// What a worker is asked.
    struct Task {
        std::shared_ptr<const Plan> plan;
        Versions inputs;
        Budget budget = {};
    };
    /// What a worker computes in the round that begins.
    virtual std::shared_ptr<const Plan> plan(Worker worker) const = 0;
    /// The same, with more than the newest point and no limit.
    /// @param version  of the newest point, which is the number of the round from 0
    virtual Task task(Worker worker, Version version) const { return {plan(worker), {version}}; }
    /// What it is asked instead when all have answered and no estimate is possible; no plan: nothing.
    virtual Task again(Worker, Version) { return {}; }
    /// Whether the next round's tasks name the point of this one: its tasks are closed after those
    /// are given out.
    virtual bool looks_back() const { return false; }
    /// Who is given its task first; those asked first tend to answer first.
    virtual std::vector<Worker> order(std::vector<Worker> active) const { return active; }
    /// A round begins.  @param version  of its point
    virtual void begin(Version version) = 0;
    /// One more contribution of the running round. @return the step, if the quorum is reached
    virtual std::optional<Step> receive(const Contribution& contribution) = 0;

    /// Seconds after which a round ends with what has come; never: it waits for its quorum.
    virtual Seconds limit() const { return never; }
    /// Time is up. @return the step that what has come allows; without one, it is asked again after
    /// each contribution that receive() finds too few
    virtual std::optional<Step> expire() { return std::nullopt; }

    /// Nobody else can answer. @return the step that what has come allows, if that is good enough
    virtual std::optional<Step> make_do() { return limit() == never ? std::nullopt : expire(); }

    /// Seconds since the tasks of the round were given out.
    Seconds elapsed() const { return now_ - dispatched_; }

    /// The round's step is done, before the next round begins.
    virtual void stepped(const Stepped&) {}
    /// What the user is to know; asked when tasks are given out.
    virtual std::string say() { return ""; }
    /// Why all contributions together allow no step.
    virtual std::string why_undecodable() const { return "all workers have answered"; }

private:
    void dispatch(Version version, std::vector<Action>& out);
    bool dispatch_again(std::vector<Action>& out);
    void give(Worker worker, Task task, std::vector<Action>& out);
    void finish(Step step, std::vector<Action>& out);

    std::vector<Worker> active_;
    Version version_ = 0;
    TaskId first_ = 0, next_ = 0;  // tasks of the running round are [first_, next_)
    std::int64_t missing_ = 0;     // contributions of the running round that have not come
    bool expired_ = false;
    Seconds now_ = 0, dispatched_ = 0;
};

}  // namespace quorate
