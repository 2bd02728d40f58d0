// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace quorate {

/// Returns the permutation of 0..count-1 that NumPy's legacy generator gives for this seed
/// (RandomState(seed).permutation(count)): Fisher-Yates from the top, each index drawn by masked
/// rejection on the 32-bit outputs of MT19937. So splits agree with those of scikit-learn.
/// O(count).
std::vector<std::int64_t> numpy_permutation(std::int64_t count, std::uint32_t seed);

/// Splits rows at random: the first ceil(fraction * count) of the permutation become test rows.
/// @param fraction  of the rows that become test rows
/// @return row numbers for (training, test)
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> split_rows(std::int64_t count,
                                                                           double fraction,
                                                                           std::uint32_t seed);

/// Returns whether rows stand in the order of their labels, or nearly so: there are at most a
/// quarter of the runs of equal labels that a random order would have, or hardly an ascent (or
/// descent) of labels that are numbers. A few rows are never said to. O(rows log rows).
/// @param classes  whether labels are classes
bool sorted_by_label(std::span<const double> labels, bool classes);

}  // namespace quorate
