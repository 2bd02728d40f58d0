// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "scheme/scheme.hpp"

namespace quorate {

/// Which rows of each block a task computes on: all, or a random sample that is keyed by (seed, block,
/// draw), so that replicas agree, whoever computes.
class Batches {
public:
    /// @param batch  samples of a round, over all blocks; 0: all rows. Each block gives its share,
    ///               but at least one row
    Batches(const Needs& needs, std::uint64_t seed, std::int64_t batch);

    bool full() const { return full_; }
    /// Rows of a block.
    std::int64_t rows(int block) const { return rows_[static_cast<std::size_t>(block)]; }
    /// Rows that a task takes of a block.
    std::int64_t samples(int block) const { return samples_[static_cast<std::size_t>(block)]; }
    std::int64_t samples(const Part& part) const;
    /// Of all blocks.
    std::int64_t samples() const { return total_; }
    /// What a sum over the samples is multiplied with to stand for the sum over all rows.
    double scale(int block) const
    {
        return static_cast<double>(rows(block)) / static_cast<double>(samples(block));
    }
    /// The rows of a draw, without repetition, ascending. O(samples log samples).
    std::vector<std::int64_t> draw(int block, std::int64_t draw) const;

private:
    std::uint64_t seed_;
    bool full_;
    std::vector<std::int64_t> rows_, samples_;
    std::int64_t total_ = 0;
};

}  // namespace quorate
