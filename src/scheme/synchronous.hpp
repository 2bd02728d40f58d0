// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "scheme/scheme.hpp"

namespace quorate {

/// What synchronous schemes share: a round gives every worker one task at the newest point, hears
/// contributions until they suffice, steps, and closes the round's tasks: late answers are dropped.
class SynchronousScheme : public Scheme {
public:
    void handle(const Event& event, Seconds now, std::vector<Action>& out) final;

protected:
    /// What a worker computes, the same in every round.
    virtual std::shared_ptr<const Plan> plan(Worker worker) const = 0;
    /// Who is given its task first; those asked first tend to answer first.
    virtual std::vector<Worker> order(std::vector<Worker> active) const { return active; }
    /// A round begins.
    virtual void begin() = 0;
    /// One more contribution of the running round. @return the step, if the quorum is reached
    virtual std::optional<Step> hear(const Contribution& contribution) = 0;

private:
    void dispatch(Version version, std::vector<Action>& out);

    std::vector<Worker> active_;
    TaskId first_ = 0, next_ = 0;  // tasks of the running round are [first_, next_)
};

}  // namespace quorate
