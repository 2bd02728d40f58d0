// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "base/seconds.hpp"

namespace quorate {

/// Reads the monotonic clock of this host, in seconds. Its zero is arbitrary: only differences
/// between readings on one host mean anything.
Seconds clock_seconds();

}  // namespace quorate
