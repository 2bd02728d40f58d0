// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "scheme/placement.hpp"
#include "scheme/sequential/sequential.hpp"

namespace quorate {

/// SR-SGC. Each exchange does gradient coding for its own job, with s = ceil(B lambda / (W - 1 +
/// B)) stragglers. If more workers have straggled, as many as exceed s repeat that job B exchanges
/// later, in place of the job of that exchange. T = B, load (s + 1) / n. W = x B + 1 with an
/// integer x.
///
/// B = 0 is plain gradient coding with s = lambda and the same rules of waiting.
/// Krishnan, Ebrahimi, Khisti, "Sequential Gradient Coding for Straggler Mitigation", ICLR 2023.
class SelectiveRepetition final : public SequentialCode {
public:
    /// @param code  of s stragglers; one part a worker
    SelectiveRepetition(const Problem& problem, GradientCode code, int stragglers,
                        const Bursty& model);

    int delay() const override { return model_.burst; }
    Bursty tolerates() const override { return model_; }
    Needs needs() const override { return needs_of(code_.encoding, problem_.rows); }
    void begin(std::int64_t exchange) override;
    Task task(Worker worker) override;
    void receive(Worker worker, const std::vector<ContributionId>& ids) override;
    bool decodes() override;
    bool harmless() override;
    std::optional<Gradient> gradient(Job job) override;
    void forget(Job) override { results_.pop_front(); }

private:
    bool has(Job job) const { return exchange_ - job < std::ssize(results_); }
    Results& results(Job job) { return results_[std::ssize(results_) - 1 - (exchange_ - job)]; }
    Job job_of(Worker worker) const;

    Problem problem_;
    GradientCode code_;
    int stragglers_;
    Bursty model_;
    Plans plans_;
    std::int64_t exchange_ = -1;
    std::deque<Results> results_;  // of the jobs that are not forgotten, the newest last
    std::vector<bool> repeats_;    // by worker: whether it computes an old job in this exchange
    int repeating_ = 0;
};

}  // namespace quorate
