// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// The rows of a block in random order: each once, then each once more in another order, without
/// end. How many rows are taken does not change their order.
class SampleStream {
public:
    /// @param rows  of the block, at least 1
    SampleStream(const Stream& random, std::int64_t rows) : random_(random), rows_(rows) {}
    /// Takes the next rows, as many as fit. O(1) each.
    /// @param rows  receives their numbers in the block
    void take(std::span<std::int64_t> rows);

private:
    Stream random_;
    std::int64_t rows_, taken_ = 0;
    std::unordered_map<std::int64_t, std::int64_t> moved_;  // a shuffle in progress
};

/// Decides which rows of each block a task computes on: all of them, or a random sample. The sample
/// is keyed by (seed, block, key), so that replicas take the same one. Local.
class Batches {
public:
    /// @param batch  samples of a round, over all blocks; 0: all rows. Each block gives its share,
    ///               rounded, but at least one row
    Batches(const Needs& needs, std::uint64_t seed, std::int64_t batch);

    /// Whether a batch is all rows.
    bool full() const { return full_; }
    /// Rows of a block.
    std::int64_t rows(int block) const { return rows_[static_cast<std::size_t>(block)]; }
    /// A block's share of the batch, in samples.
    std::int64_t samples(int block) const { return samples_[static_cast<std::size_t>(block)]; }
    /// Samples of a part: the shares of its items' blocks, or of a product its rows.
    std::int64_t samples(const Part& part) const;
    /// Samples that a part computes within a budget if time suffices. A step of descent takes the
    /// block's share.
    std::int64_t samples(const Budget& budget, const Part& part) const;
    /// The sum of the shares of all blocks.
    std::int64_t samples() const { return total_; }
    /// Rows of all blocks.
    std::int64_t rows() const { return all_; }
    /// The factor of a block's gradients that makes blocks count by their rows where shares are
    /// rounded; 1 where they are exact.
    double scale(int block) const
    {
        const auto product = [](std::int64_t a, std::int64_t b) {
            return static_cast<double>(a) * static_cast<double>(b);
        };
        return product(rows(block), total_) / product(samples(block), all_);
    }
    /// The random order of a block's rows for that key.
    SampleStream stream(int block, std::int64_t key) const
    {
        return {Stream(seed_, Purpose::samples, static_cast<std::uint32_t>(block),
                       static_cast<std::uint32_t>(key)),
                rows(block)};
    }

private:
    std::uint64_t seed_;
    bool full_;
    std::vector<std::int64_t> rows_, samples_;
    std::int64_t all_ = 0, total_ = 0;  // rows and samples of all blocks
};

}  // namespace quorate
