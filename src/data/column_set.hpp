// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/index.hpp"

namespace quorate {

/// A set of columns, in a bit for each column that there is, and 4 bytes for each 64 when they are
/// numbered. Local.
class ColumnSet {
public:
    /// The empty set of so many columns.
    explicit ColumnSet(std::int64_t columns) : words_(static_cast<std::size_t>(columns + 63) / 64)
    {
    }
    /// O(1).
    void add(Index column) { words_[word(column)] |= bit(column); }
    /// Lists them in their order, in no more memory than that takes. O(columns / 64 + size).
    std::vector<Index> list() const
    {
        std::size_t size = 0;
        for (const auto bits : words_) size += static_cast<std::size_t>(std::popcount(bits));
        std::vector<Index> all;
        all.reserve(size);
        for (std::size_t at = 0; at < words_.size(); ++at)
            for (auto bits = words_[at]; bits != 0; bits &= bits - 1)
                all.push_back(static_cast<Index>(64 * at) + std::countr_zero(bits));
        return all;
    }
    /// Numbers them from 0 in their order. To be called when all are there. O(columns / 64).
    void number()
    {
        before_.reserve(words_.size());
        Index count = 0;
        for (const auto bits : words_) {
            before_.push_back(count);
            count += std::popcount(bits);
        }
    }
    /// The number of one of them. After number(). O(1).
    Index number_of(Index column) const
    {
        return before_[word(column)] + std::popcount(words_[word(column)] & (bit(column) - 1));
    }

private:
    static std::size_t word(Index column) { return static_cast<std::size_t>(column) / 64; }
    static std::uint64_t bit(Index column)
    {
        return std::uint64_t{1} << (static_cast<std::size_t>(column) % 64);
    }
    std::vector<std::uint64_t> words_;
    std::vector<Index> before_;  // how many are in all words before each
};

}  // namespace quorate
