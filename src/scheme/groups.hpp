// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "code/fractional_repetition.hpp"
#include "scheme/synchronous.hpp"

namespace quorate {

/// Schemes on fractional repetition: a round takes the first answer of each group, and ends when
/// every group is heard or `collect` workers have answered, whichever comes first.
class GroupScheme final : public SynchronousScheme {
public:
    /// @param collect  answers after which a round ends although groups are missing; workers: never
    /// @param rescale  scale the sum by groups / groups heard, which is unbiased for random
    ///                 stragglers; else missing groups shrink the estimate
    GroupScheme(const Problem& problem, FractionalRepetition code, int collect, bool rescale);

    Needs needs() const override;

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override;
    std::vector<Worker> order(std::vector<Worker> active) const override;
    void begin() override;
    std::optional<Step> hear(const Contribution& contribution) override;

private:
    Problem problem_;
    FractionalRepetition code_;
    int collect_;
    bool rescale_;
    std::vector<std::shared_ptr<const Plan>> plans_;  // one a group
    // of the running round
    std::vector<bool> heard_;  // by group
    std::vector<Term> terms_;
    int answers_ = 0;
};

/// The options of fractional repetition, and the code they ask for.
std::vector<Option> repetition_options();
/// @throws BadInput unless --stragglers + 1 divides the number of workers
FractionalRepetition repetition(const Settings& settings, const Problem& problem);

}  // namespace quorate
