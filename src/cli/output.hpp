// SPDX-License-Identifier: BSD-2-Clause
// The file that a command writes.
#pragma once

#include <string>

#include "base/settings.hpp"

namespace quorate {

/// Before any work: whether the file that an option names can be written. Only what is of the same
/// kind, or empty, is replaced: a file given by mistake survives.
/// @param kind  "trace" or "data set"
/// @throws BadInput
void check_output(const Settings& settings, const std::string& option, const std::string& kind);

}  // namespace quorate
