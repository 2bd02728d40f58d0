// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "parts/components.hpp"

namespace quorate {

/// Returns the words that `quorate list` knows: schemes, models, ..., clusters, experiments.
std::vector<std::string> what_is_listed();

/// Returns what there is of one of them, cluster profiles and experiments with their summaries.
/// @throws BadInput for another word, with the nearest; Failure if the folder of clusters or
/// experiments is not there
ComponentKind listed(const std::string& what);

}  // namespace quorate
