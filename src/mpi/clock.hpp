// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "base/seconds.hpp"

namespace quorate {

/// Seconds on a monotonic clock; only differences mean anything.
Seconds clock_seconds();

}  // namespace quorate
