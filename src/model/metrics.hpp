// SPDX-License-Identifier: BSD-2-Clause
// Metrics of two-class scores; labels are +1 and -1. Definitions: docs/architecture.md, "Metrics".
#pragma once

#include <span>

namespace quorate {

/// Area under the ROC curve: P(score of a positive > score of a negative) + half of P(equal).
/// By average ranks, so ties count half. NaN if a class is empty. O(n log n).
double auc(std::span<const double> scores, std::span<const double> labels);

struct Classification {
    double accuracy, precision, recall,
        f1;  // 0 where the denominator is 0; accuracy NaN for no rows
};

/// Rows with a score above the threshold are called positive.
Classification classification(std::span<const double> scores, std::span<const double> labels,
                              double threshold);

}  // namespace quorate
