// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// Rows of a block in random order, each once; then once more in another order, without end. Who takes
/// the first b of them and who takes more see the same rows first.
class SampleStream {
public:
    SampleStream(const Stream& random, std::int64_t rows) : random_(random), rows_(rows) {}
    /// The next rows, as many as fit. O(1) each.
    void take(std::span<std::int64_t> rows);

private:
    Stream random_;
    std::int64_t rows_, taken_ = 0;
    std::unordered_map<std::int64_t, std::int64_t> moved_;  // a shuffle in progress
};

/// Which rows of each block a task computes on: all, or a random sample that is keyed by (seed, block,
/// key), so that replicas agree, whoever computes.
class Batches {
public:
    /// @param batch  samples of a round, over all blocks; 0: all rows. Each block gives its share,
    ///               but at least one row
    Batches(const Needs& needs, std::uint64_t seed, std::int64_t batch);

    bool full() const { return full_; }
    /// Rows of a block.
    std::int64_t rows(int block) const { return rows_[static_cast<std::size_t>(block)]; }
    /// A block's share of the batch.
    std::int64_t samples(int block) const { return samples_[static_cast<std::size_t>(block)]; }
    /// Of a product: its rows.
    std::int64_t samples(const Part& part) const;
    /// Those that a part computes within a budget, as far as time allows; a step of descent takes the
    /// block's share.
    std::int64_t samples(const Budget& budget, const Part& part) const;
    /// Of all blocks.
    std::int64_t samples() const { return total_; }
    /// Of all blocks.
    std::int64_t rows() const { return all_; }
    /// What makes blocks count by their rows where shares are rounded; 1 where they are exact.
    double scale(int block) const
    {
        const auto product = [](std::int64_t a, std::int64_t b) {
            return static_cast<double>(a) * static_cast<double>(b);
        };
        return product(rows(block), total_) / product(samples(block), all_);
    }
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
