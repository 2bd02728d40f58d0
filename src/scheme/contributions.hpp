// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "code/gradient_code.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// The contributions of a round by worker and part, for the step that names them.
class Contributions {
public:
    /// @param parts  of each worker's task
    explicit Contributions(std::vector<int> parts);

    void clear();
    /// @return whether it was the worker's last part
    bool add(const Contribution& contribution);

    /// The step that a decoder's result asks for.
    /// @param samples  of a round, counted once: the estimate is their mean
    Step step(const Decoding& decoding, std::int64_t samples) const;
    /// The terms alone, those of `first_part` of the decoder's messages being that part of the task.
    std::vector<Term> terms(const Decoding& decoding, int first_part = 0) const;
    ContributionId id(Worker worker, int part) const;

private:
    std::size_t index_of(Worker worker, int part) const;

    std::vector<int> parts_, missing_;
    std::vector<std::size_t> begin_;
    std::vector<ContributionId> ids_;
};

}  // namespace quorate
