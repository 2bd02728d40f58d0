// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "scheme/newest/schemes.hpp"

namespace quorate {

/// The weight of a contribution that is so many updates old (--staleness-scale).
inline double staleness_weight(StalenessScale scale, Version stale, int workers)
{
    const auto staleness = static_cast<double>(stale);
    const double n = workers;
    return scale == StalenessScale::inverse    ? 1 / (1 + staleness)
           : scale == StalenessScale::adaptive ? n / std::max(n, staleness)
                                               : 1;
}

}  // namespace quorate
