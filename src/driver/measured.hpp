// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "base/settings.hpp"

namespace quorate {

/// Takes from the trace of a short run (`--measured FILE`) what describes the cluster and was not given: workers,
/// row-time, slowdown, latency, and without data the rows. @throws BadInput
Settings with_measured(Settings settings);

}  // namespace quorate
