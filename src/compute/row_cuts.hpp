// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <vector>

#include "compute/work.hpp"

namespace quorate {

/// Cuts the rows of a part's items into what is computed at a time. Owns all that it needs, so that
/// a copy can look ahead. Local.
class RowCuts {
public:
    /// @param at  the points at which the part's gradients are taken
    RowCuts(const Computing& computing, const Part& part, std::span<const At> at,
            const Extent& extent);

    /// The rows first..first+count-1 of an item's block, or samples of it.
    struct Cut {
        std::size_t item;
        std::int64_t first, count;
        bool ends_item;
    };
    bool done() const { return item_ == items_.size(); }
    /// Takes the next rows. Unless done(). O(rows).
    /// @param samples  receives their numbers in the block; empty: they are first..first+count-1
    Cut next(std::vector<std::int64_t>& samples);
    /// Rows of the item that are not taken yet; 0 if done().
    std::int64_t left() const { return done() ? 0 : items_[item_].rows - row_; }
    /// Rows of the micro-batch that comes next; 0 if it has begun, or if done().
    std::int64_t micro_batch() const
    {
        return row_ % micro_batch_ == 0 ? std::min(micro_batch_, left()) : 0;
    }

private:
    void skip_empty();

    struct ItemRows {
        std::int64_t rows;                   // that are taken
        std::optional<SampleStream> stream;  // if they are samples
    };
    std::int64_t at_once_, micro_batch_;
    bool by_micro_batch_;
    std::vector<ItemRows> items_;  // those to compute
    std::size_t item_ = 0;
    std::int64_t row_ = 0;  // rows of the item that are taken
};

}  // namespace quorate
