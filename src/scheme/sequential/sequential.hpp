// SPDX-License-Identifier: BSD-2-Clause
// Sequential gradient coding. Job t is one gradient; it begins with exchange t and is decoded at
// most T exchanges later. So a worker may straggle for a while and make up for it afterwards.
// Krishnan, Ebrahimi, Khisti, "Sequential Gradient Coding for Straggler Mitigation", ICLR 2023.
#pragma once

#include <deque>
#include <optional>

#include "code/gradient_code.hpp"
#include "scheme/scheme.hpp"
#include "scheme/sequential/straggler_pattern.hpp"
#include "scheme/sequential/wait_for.hpp"

namespace quorate {

using Job = std::int64_t;  // the number of its exchange, from 0

/// Says what each worker computes in each exchange, and what the gradient of a job is made of.
class SequentialCode {
public:
    virtual ~SequentialCode() = default;

    /// T: the number of exchanges after its own in which a job must be decoded.
    virtual int delay() const = 0;
    /// The straggler patterns that the code tolerates.
    virtual Bursty tolerates() const = 0;
    /// Blocks and shards.
    virtual Needs needs() const = 0;

    /// What a worker is asked: a plan whose input i is the point of jobs[i].
    struct Task {
        std::shared_ptr<const Plan> plan;
        std::vector<Job> jobs;
    };
    /// Begins the next exchange. Workers without an answer in the one before were stragglers.
    virtual void begin(std::int64_t exchange) = 0;
    /// What a worker is asked in this exchange. Once for each worker.
    virtual Task task(Worker worker) = 0;
    /// Receives a worker's answer to the running exchange. @param ids  of its parts, in order
    virtual void receive(Worker worker, const std::vector<ContributionId>& ids) = 0;
    /// Whether the exchange may end: every job that depends on it can be decoded, now or when it is
    /// due.
    virtual bool decodes() = 0;
    /// Whether the stragglers of this exchange harm no job, even if they do not fit the model.
    virtual bool harmless() { return false; }
    struct Gradient {
        std::vector<Term> terms;
        double error;  // of the decoding
    };
    /// The gradient of the oldest job that is not forgotten, after an exchange that decodes().
    /// @return nothing before the job can be decoded, which it can when it is due
    virtual std::optional<Gradient> gradient(Job job) = 0;
    /// Forgets the oldest job, whose gradient has been used. Nothing is asked of it any more.
    virtual void forget(Job job) = 0;
};

/// Of each worker, its contribution to one sum of a code; `not_received`: it has not come.
using Results = std::vector<ContributionId>;
inline constexpr ContributionId not_received = -1;

/// Decodes the results that have come. @return nullopt if they do not suffice
std::optional<Decoding> decode(Decoder& decoder, const Results& results);
/// Appends the terms of a decoding of these results; weights of 0 are left out.
void add_terms(const Decoding& decoding, const Results& results, std::vector<Term>& terms);

/// How long an exchange waits.
struct WaitOut {
    double mu;  // workers that take longer than 1 + mu times the fastest one may be stragglers
    WaitFor rule = {};
};

/// Runs the exchanges: for one model, whose updates come up to T exchanges late, or for M > T
/// models in turn. Updates have the order of their jobs. Each comes at the end of the first
/// exchange in which its job and all before it can be decoded.
class Sequential final : public Scheme {
public:
    /// @param models  M
    Sequential(const Problem& problem, std::unique_ptr<SequentialCode> code, const WaitOut& wait,
               int models);

    Needs needs() const override;
    void handle(const Event& event, Seconds now, std::vector<Action>& out) override;

private:
    void begin(Seconds now, std::vector<Action>& out);
    void receive(const Arrived& message, Seconds now, std::vector<Action>& out);
    bool may_be_left() const;
    bool may_end();
    void end(Seconds now, std::vector<Action>& out);
    void step_or_begin(Seconds now, std::vector<Action>& out);

    Problem problem_;
    std::unique_ptr<SequentialCode> code_;
    WaitOut wait_;
    int models_;
    std::int64_t samples_;
    std::vector<Worker> active_;
    std::int64_t exchange_ = -1;
    Job oldest_ = 0;  // of the jobs without a step
    Version newest_ = 0;
    std::vector<Version> version_of_;              // of each job, the version of its point
    std::deque<std::pair<TaskId, TaskId>> tasks_;  // of the exchanges from that job on
    TaskId next_ = 0;
    std::deque<Stragglers> pattern_;  // of the last W exchanges, the running one last
    int missing_ = 0;
    bool expired_ = false, for_all_ = false, in_grace_ = false;
    Seconds began_ = 0;
};

}  // namespace quorate
