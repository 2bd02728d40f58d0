// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <span>

namespace quorate {

/// How well a model does on a set of rows. NaN: the task does not have it, or there are no rows.
struct Quality {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();
    double loss = none;  // mean over the rows, without regulariser
    double accuracy = none, auc = none, average_precision = none;
    double precision = none, recall = none, f1 = none;  // several classes: means over the classes
    double mse = none, top_k = none;
};

}  // namespace quorate
