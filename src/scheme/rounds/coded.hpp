// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "scheme/contributions.hpp"
#include "scheme/placement.hpp"
#include "scheme/rounds/adaptive_deadline.hpp"
#include "scheme/rounds/synchronous.hpp"

namespace quorate {

/// A gradient code as a scheme: each worker sends the sums that its rows of B say, and a round ends
/// when the decoder has an estimate.
class CodedScheme : public SynchronousScheme {
public:
    /// @param code    for problem.workers workers
    /// @param limit   when a round ends with what has come
    /// @param shares  of the partitions
    CodedScheme(const Problem& problem, GradientCode code, RoundLimit limit = {},
                Shares shares = {});

    Needs needs() const override;
    std::string warning() const override { return code_.warning; }
    void fetch_ahead(Worker worker) const override { received_.fetch_ahead(worker); }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override;
    std::vector<Worker> order(std::vector<Worker> active) const override;
    void begin(Version) override;
    std::optional<Step> receive(const Contribution& contribution) override;
    Seconds limit() const override { return limit_.fixed; }
    std::optional<Seconds> new_limit() const override;
    std::optional<Step> expire() override;
    std::optional<Step> make_do() override;
    std::string why_undecodable() const override;

    const Problem& problem() const { return problem_; }
    std::int64_t samples() const { return samples_; }  // of a round
    const Encoding& encoding() const { return code_.encoding; }
    Decoder& decoder() const { return *code_.decoder; }
    Contributions& received() { return received_; }

private:
    Problem problem_;
    GradientCode code_;
    Shares shares_;
    std::int64_t samples_;
    RoundLimit limit_;
    std::optional<AdaptiveDeadline> adaptive_;
    Plans plans_;
    Contributions received_;
};

}  // namespace quorate
