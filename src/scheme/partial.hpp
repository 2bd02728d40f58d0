// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "scheme/contributions.hpp"
#include "scheme/placement.hpp"
#include "scheme/synchronous.hpp"

namespace quorate {

/// For partial stragglers, which are slow but not dead. Each worker first sends the plain sum of
/// partitions that it alone holds, then its rows of an exact code over the n partitions that are
/// left. A round ends when all first messages and a quorum of second ones have come.
///
/// k = n (u + 1) partitions: worker i's own are i u .. i u + u - 1, the last n are coded.
/// Tolerates a slowdown of (u + d) / u. Tandon et al., "Gradient Coding", ICML 2017.
class PartialScheme final : public SynchronousScheme {
public:
    /// @param own    u, partitions that each worker alone holds, at least 1
    /// @param code   exact, over n partitions
    /// @param limit  seconds after which a round ends with what has come; never: no limit
    PartialScheme(const Problem& problem, int own, GradientCode code, Seconds limit);

    Needs needs() const override { return needs_of(encoding_, problem_.rows); }
    std::string warning() const override { return code_.warning; }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override;
    std::vector<Worker> order(std::vector<Worker> active) const override;
    void begin(Version) override;
    std::optional<Step> receive(const Contribution& contribution) override;
    Seconds limit() const override { return limit_; }
    /// Makes an approximate step of the first messages that have come, scaled up for the missing
    /// ones.
    std::optional<Step> expire() override;

private:
    Problem problem_;
    int own_;
    GradientCode code_;
    Seconds limit_;
    Encoding encoding_;     // of both messages: part 0, and behind it the parts of the code
    std::int64_t samples_;  // of a round
    Plans plans_;
    Contributions received_;
    std::vector<Worker> firsts_;     // workers whose first message has come
    std::optional<Decoding> coded_;  // of the second messages, once they suffice
};

}  // namespace quorate
