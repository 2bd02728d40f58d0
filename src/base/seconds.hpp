// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>

namespace quorate {

using Seconds = double;  // of whichever clock: wall, virtual or replayed

inline constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

}  // namespace quorate
