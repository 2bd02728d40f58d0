// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "scheme/contributions.hpp"
#include "scheme/placement.hpp"
#include "scheme/synchronous.hpp"

namespace quorate {

/// Partial stragglers: slow, but not dead. Each worker first sends the plain sum of partitions of its
/// own, then its rows of an exact code over the n partitions that are left. A round ends when all
/// first messages and a quorum of second ones are there.
///
/// k = n (u + 1) partitions: worker i's own are i u .. i u + u - 1, the last n are coded.
/// Tolerates a slowdown of (u + d) / u. Tandon et al., "Gradient Coding", ICML 2017.
class PartialScheme final : public SynchronousScheme {
public:
    /// @param own   u, partitions that each worker alone holds, >= 1
    /// @param code  exact, over n partitions
    PartialScheme(const Problem& problem, int own, GradientCode code, Seconds limit);

    Needs needs() const override { return needs_of(encoding_, problem_.rows); }
    std::string warning() const override { return code_.warning; }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override;
    std::vector<Worker> order(std::vector<Worker> active) const override;
    void begin(Version) override;
    std::optional<Step> receive(const Contribution& contribution) override;
    Seconds limit() const override { return limit_; }
    /// An approximate step: the first messages that are there, scaled up for those that are not.
    std::optional<Step> expire() override;

private:
    Problem problem_;
    int own_;
    GradientCode code_;
    Seconds limit_;
    Encoding encoding_;     // of both messages: part 0 and those of the code
    std::int64_t samples_;  // of a round
    Plans plans_;
    Contributions received_;
    std::vector<Worker> firsts_;     // whose first message is there
    std::optional<Decoding> coded_;  // once the second messages are enough
};

}  // namespace quorate
