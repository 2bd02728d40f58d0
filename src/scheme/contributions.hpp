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

    /// Turns a decoding into a step. O(weights).
    /// @param samples  of a round, counted once: the estimate is the mean over them
    Step step(const Decoding& decoding, std::int64_t samples) const;
    /// Turns a decoding into terms; weights of 0 are left out. O(weights).
    /// @param first_part  the part of the task that is part 0 of the decoder's messages
    std::vector<Term> terms(const Decoding& decoding, int first_part = 0) const;
    /// The contribution of a worker's part, which must have come.
    ContributionId id(Worker worker, int part) const;

private:
    std::size_t index_of(Worker worker, int part) const;

    std::vector<int> parts_, missing_;
    std::vector<std::size_t> begin_;
    std::vector<ContributionId> ids_;
};

}  // namespace quorate
