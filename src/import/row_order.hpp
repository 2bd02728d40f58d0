// SPDX-License-Identifier: BSD-2-Clause
// Which rows are for training and which for test, and in which order.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "tables/labels.hpp"

namespace quorate {

/// The rows of each split, in the order of the data set, as places in Labels::kept.
struct RowOrder {
    std::vector<std::int64_t> train, test;
    bool mended = false;  // the training rows were sorted by label, and are so no more
};

/// Returns the splits and orders that --test-fraction and --shuffle say.
/// @param train_rows  rows of the input; the others are test rows
/// @throws BadInput if options contradict each other, or leave no row to train with
RowOrder row_order(const Settings& settings, const Labels& labels, std::int64_t train_rows);

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
