// SPDX-License-Identifier: BSD-2-Clause
// Shares of the parameters. Each has an owner, which adds up and updates what belongs to it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/block_sums.hpp"
#include "data/support.hpp"

namespace quorate {

/// Shares begin at multiples of so many parameters.
inline constexpr auto share_block = static_cast<std::int64_t>(sum_block);

/// Cuts the parameters into contiguous shares. What hosts send to the owners of these, the sum over
/// hosts of how many parameters of the host's support are in the share, is as equal as cuts at
/// whole blocks make it: a share has at most the mean and what one block has, unless it is a
/// single block. Local. O(sizes of the supports + blocks).
/// @param of_hosts  of each host, the union of its workers' supports, over all parameters
/// @param shares    how many are wanted, at least 1; with fewer blocks there are as many as blocks
/// @return where the shares begin, ascending, and at the end `parameters`; each has a block at
///         least
std::vector<std::int64_t> cut_shares(std::span<const Support* const> of_hosts,
                                     std::int64_t parameters, int shares);

/// Returns how many parameters of a support are in each share. O(shares x log of its size).
/// @param bounds  of the shares, as cut_shares() says
std::vector<std::int64_t> numbers_of_shares(const Support& support,
                                            std::span<const std::int64_t> bounds);

/// Hosts hand on what the coordinator, on host 0, tells all: so no link carries it more than twice.
/// @return the one or two hosts that a host tells; none if nobody is left
std::vector<int> told_by(int host, int hosts);

}  // namespace quorate
