// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>

#include "scheme/scheme.hpp"

namespace quorate {

/// The mean of samples that come in any numbers: a Step made of contributions, each of which is a
/// plain sum over samples of one block.
class SampleMean {
public:
    /// @param blocks  of all workers
    explicit SampleMean(std::vector<Block> blocks);

    /// Begins a new mean.
    void clear();
    /// Adds a contribution. @param weight  of each of its samples
    void add(const Contribution& contribution, int block, double weight = 1);
    /// Adds a contribution that counts as a whole and not by its samples, such as a displacement.
    void add_whole(const Contribution& contribution, int block, double weight);

    bool empty() const { return terms_.empty(); }
    /// Contributions so far.
    int size() const { return static_cast<int>(terms_.size()); }
    /// Samples of all of them.
    std::int64_t samples() const { return samples_; }
    /// Makes the step. Its error is |B'a - 1|^2 with the blocks as partitions: the sum over the
    /// blocks of (weight / divisor / share of the rows - 1)^2. O(contributions).
    /// @param divisor  of the weighted sum: the sum of the weights of samples, or what stands for
    ///                 it
    Step step(double divisor) const;
    /// Makes the step, with the number of samples as divisor.
    Step step() const { return step(static_cast<double>(samples_)); }

private:
    std::vector<Block> blocks_;
    std::int64_t rows_ = 0, samples_ = 0;
    std::vector<Term> terms_;
    std::map<int, double> weight_;  // by block, the sum of the weights of its samples
};

}  // namespace quorate
