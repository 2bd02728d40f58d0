// SPDX-License-Identifier: BSD-2-Clause
// Scalars of whole vectors, such as norms and inner products. Blocks of the parameters are summed
// by themselves, and their sums are added up in the order of the blocks: the same bits with any
// number of threads, and of processes that each have a share of the vectors.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace quorate {

/// Parameters of a block; the last one may have fewer. Shares begin and end at bounds of blocks.
constexpr std::size_t sum_block = 4096;

/// The blocks of so many parameters.
constexpr std::size_t blocks_of(std::size_t parameters)
{
    return (parameters + sum_block - 1) / sum_block;
}

/// Adds up the sums of all blocks of the parameters, those of other processes too.
/// @param blocks  the caller's, of its parameters: block by block, for each sums.size() numbers
/// @param sums    receives for each of these numbers its sum over the blocks, in their order
using SumBlocks = std::function<void(std::span<const double> blocks, std::span<double> sums)>;

/// Adds up the given ones: SumBlocks of a process that has all parameters.
inline void sum_blocks(std::span<const double> blocks, std::span<double> sums)
{
    for (auto& sum : sums) sum = 0;
    for (std::size_t i = 0; i < blocks.size();)
        for (auto& sum : sums) sum += blocks[i++];
}

}  // namespace quorate
