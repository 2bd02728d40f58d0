// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "model/quality.hpp"

namespace quorate {

/// Returns ", loss 0.5, accuracy 0.8": the metrics that there are. Local.
std::string quality_words(const Quality& quality);

}  // namespace quorate
