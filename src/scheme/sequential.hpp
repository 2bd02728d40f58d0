// SPDX-License-Identifier: BSD-2-Clause
// Sequential gradient coding: job t, one gradient, begins with exchange t and is decoded T exchanges
// later, so that a worker may straggle for a while and make up for it.
// Krishnan, Ebrahimi, Khisti, "Sequential Gradient Coding for Straggler Mitigation", ICLR 2023.
#pragma once

#include <deque>
#include <optional>

#include "code/gradient_code.hpp"
#include "scheme/scheme.hpp"
#include "scheme/straggler_pattern.hpp"

namespace quorate {

using Job = std::int64_t;

/// What each worker computes in each exchange, and what a job's gradient is made of.
class SequentialCode {
public:
    virtual ~SequentialCode() = default;

    /// T: exchanges after its own until a job must be decoded.
    virtual int delay() const = 0;
    /// The straggler patterns that it tolerates.
    virtual Bursty tolerates() const = 0;
    /// Blocks and shards.
    virtual Needs needs() const = 0;

    /// What a worker is asked: a plan whose input i is taken at the point of jobs[i].
    struct Task {
        std::shared_ptr<const Plan> plan;
        std::vector<Job> jobs;
    };
    /// The next exchange begins; workers without an answer in the one before were stragglers.
    virtual void begin(std::int64_t exchange) = 0;
    virtual Task task(Worker worker) = 0;
    /// The worker's answer to the running exchange. @param ids  of its parts
    virtual void receive(Worker worker, const std::vector<ContributionId>& ids) = 0;
    /// Whether whatever depends on the running exchange can be decoded, or still will be.
    virtual bool decodes() = 0;
    /// Whether its stragglers harm nothing, whatever the model says.
    virtual bool harmless() { return false; }
    /// The gradient of a job that decodes() has found complete. @return its terms, and the error
    virtual std::pair<std::vector<Term>, double> gradient(Job job) = 0;
    /// The job's terms are used.
    virtual void forget(Job job) = 0;
};

/// How long an exchange waits.
struct WaitOut {
    double mu;  // who is not done after (1 + mu) times the fastest worker's time may be a straggler
    bool all;   // where the stragglers do not fit the model, wait for all; else until they do
};

/// Runs the exchanges: one model with updates that are T exchanges late, or M > T models in turn.
class Sequential final : public Scheme {
public:
    Sequential(const Problem& problem, std::unique_ptr<SequentialCode> code, const WaitOut& wait,
               int models);

    Needs needs() const override;
    void handle(const Event& event, Seconds now, std::vector<Action>& out) override;

private:
    void begin(Seconds now, std::vector<Action>& out);
    void receive(const Arrived& message, Seconds now, std::vector<Action>& out);
    bool may_end();
    void end(Seconds now, std::vector<Action>& out);

    Problem problem_;
    std::unique_ptr<SequentialCode> code_;
    WaitOut wait_;
    int models_;
    std::int64_t samples_;
    std::vector<Worker> active_;
    std::int64_t exchange_ = -1;
    Version newest_ = 0;
    std::vector<Version> version_of_;  // of each job: the point of its gradient
    std::deque<std::pair<TaskId, TaskId>>
        tasks_;  // of the exchanges whose jobs are not all decoded
    TaskId next_ = 0;
    std::deque<Stragglers> pattern_;  // of the last exchanges, the running one last
    int missing_ = 0;
    bool expired_ = false, for_all_ = false;
    Seconds began_ = 0;
};

}  // namespace quorate
