// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "code/gradient_code.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// The contributions of a round, by worker and part, for the step that names them.
class Contributions {
public:
    /// @param parts  of each worker, how many parts its task has
    explicit Contributions(std::vector<int> parts);

    /// Begins a round.
    void clear();
    /// Adds a contribution. @return whether all parts of its worker have come now
    bool add(const Contribution& contribution);

    /// Turns a decoding into a step; weights of 0 are left out. O(weights).
    /// @param samples  of a round, counted once: the estimate is the mean over them
    Step step(const Decoding& decoding, std::int64_t samples) const;

private:
    std::vector<int> parts_, missing_;              // by worker
    std::vector<std::vector<ContributionId>> ids_;  // by worker and part
};

}  // namespace quorate
