// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>

#include "base/block_sums.hpp"
#include "data/support.hpp"

namespace quorate {

/// A vector in a weighted sum.
struct Addend {
    const Support& support;
    Packed packed;  // at the support
    double weight;
};

/// Parameters to add up at a time: their sum stays in the cache of a core, and is long enough for
/// the addends to be read ahead.
constexpr std::size_t range_of_sums = 8 * sum_block;

/// Adds each one, times its weight, to a range of the sum, in this order. Each element of the sum
/// gets its addends in this order too, so the bits are those of Support::add() of one after the
/// other. O(elements of the addends in the range + addends x log of their size).
/// @param range  of the sum, from parameter `first` on
void add(std::span<const Addend> addends, Numbers range, std::size_t first);

}  // namespace quorate
