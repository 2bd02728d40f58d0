// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <vector>

namespace quorate {

/// The middle value, or the mean of the two in the middle; 0 for no values. O(n).
inline double median(std::vector<double> values)
{
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return 0.5 * *middle + 0.5 * *std::max_element(values.begin(), middle);
}

}  // namespace quorate
