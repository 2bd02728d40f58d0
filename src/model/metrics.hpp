// SPDX-License-Identifier: BSD-2-Clause
// Metrics of scores. Definitions: docs/models.md, "Metrics".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/quality.hpp"

namespace quorate {

/// Returns the area under the ROC curve: P(score of a positive > score of a negative) + half of
/// P(equal). By average ranks. NaN if a class is empty. Labels +1, -1. O(n log n).
double auc(std::span<const double> scores, std::span<const double> labels);

/// Returns the sum over the thresholds, from the highest score down, of precision x growth of
/// recall. Rows of one score are taken together. NaN if there is no positive. Labels +1, -1. O(n
/// log n).
double average_precision(std::span<const double> scores, std::span<const double> labels);

/// Computes accuracy, precision, recall and F1 of two classes, where rows with a score above the
/// threshold are called positive. They are 0 where the denominator is 0; accuracy is NaN for no
/// rows. Labels +1, -1. O(n).
Quality classification(std::span<const double> scores, std::span<const double> labels,
                       double threshold);

/// Returns 1 for each row with a score above the threshold, else 0.
std::vector<std::int64_t> two_classes(std::span<const double> scores, double threshold);

/// Computes all metrics of two classes but the loss. Labels +1, -1. O(n log n).
Quality two_class_quality(std::span<const double> scores, std::span<const double> labels,
                          double threshold);

/// Returns how many rows have their label among the `k` classes with the highest scores. Of equal
/// scores the lower class comes first.
/// @param scores  rows x classes, row by row  @param labels  0..classes-1
double top_hits(std::span<const double> scores, std::span<const double> labels,
                std::int64_t classes, std::int64_t k);

/// Computes the accuracy, and the means over the classes of precision, recall and F1. A class that
/// no row has and no row is called counts 0.
/// @param scores  rows x classes, row by row  @param labels  0..classes-1
Quality class_means(std::span<const double> scores, std::span<const double> labels,
                    std::int64_t classes);

}  // namespace quorate
