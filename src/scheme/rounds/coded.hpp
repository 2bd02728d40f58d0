// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "scheme/contributions.hpp"
#include "scheme/rounds/adaptive_deadline.hpp"
#include "scheme/rounds/schemes.hpp"
#include "scheme/rounds/synchronous.hpp"

namespace quorate {

/// A gradient code as a scheme: each worker sends the sums that its rows of B say, and a round ends
/// when the decoder has an estimate.
class CodedScheme : public SynchronousScheme {
public:
    /// @param code    for problem.workers workers
    /// @param limit   when a round ends with what has come
    /// @param shares  of the partitions
    CodedScheme(const Problem& problem, GradientCode code, const RoundLimit& limit = {},
                const Shares& shares = {});

    std::string warning() const override { return code_.warning; }
    void fetch_ahead(Worker worker) const override { received_.fetch_ahead(worker); }

protected:
    std::vector<Worker> order(std::vector<Worker> active) const override;
    void begin(Version) override;
    std::optional<Step> receive(const Contribution& contribution) override;
    std::optional<Seconds> new_limit() const override;
    std::optional<Step> expire() override;
    std::optional<Step> make_do() override;
    std::string why_undecodable() const override;

    const Problem& problem() const { return problem_; }
    const Encoding& encoding() const { return code_.encoding; }
    Decoder& decoder() const { return *code_.decoder; }
    Contributions& received() { return received_; }

private:
    Problem problem_;
    GradientCode code_;
    std::optional<AdaptiveDeadline> adaptive_;
    Contributions received_;
};

/// Makes schemes of a code, with the deadline and the shares of options that have them.
template <class T>
auto coded(GradientCode (*code)(const T&, const Problem&))
{
    return [code](const T& given, const Problem& problem) -> std::unique_ptr<Scheme> {
        RoundLimit limit;
        Shares shares;
        if constexpr (requires { given.deadline; }) limit = given.deadline;
        if constexpr (requires { given.shares; }) shares = given.shares;
        return std::make_unique<CodedScheme>(problem, code(given, problem), limit, shares);
    };
}

/// Makes the cyclic code that --stragglers and --coefficients ask for.
/// @throws Refusal if there is no such code for so many workers
GradientCode chosen_cyclic_code(Coefficients coefficients, int stragglers, const Problem& problem);

}  // namespace quorate
