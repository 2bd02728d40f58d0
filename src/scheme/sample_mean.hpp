// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>

#include "scheme/scheme.hpp"

namespace quorate {

/// The mean of samples that came in whatever numbers: a Step made of contributions, each a plain sum
/// over samples of one block.
class SampleMean {
public:
    explicit SampleMean(std::vector<Block> blocks);

    void clear();
    /// @param weight  of each of its samples
    void add(const Contribution& contribution, int block, double weight = 1);
    /// One that counts as a whole, such as a displacement.
    void add_whole(const Contribution& contribution, int block, double weight);

    bool empty() const { return terms_.empty(); }
    int size() const { return static_cast<int>(terms_.size()); }
    std::int64_t samples() const { return samples_; }
    /// Their mean. The error is that of B with the blocks as partitions: how far each is from
    /// counting by its rows. O(contributions).
    /// @param divisor  sum of weights, or what stands for it
    Step step(double divisor) const;
    Step step() const { return step(static_cast<double>(samples_)); }

private:
    std::vector<Block> blocks_;
    std::int64_t rows_ = 0, samples_ = 0;
    std::vector<Term> terms_;
    std::map<int, double> weight_;  // of blocks
};

}  // namespace quorate
