// SPDX-License-Identifier: BSD-2-Clause
// The file that a command writes.
#pragma once

#include <string>

#include "base/settings.hpp"

namespace quorate {

/// Whether a file is HDF5 of that kind, as its attribute `format` says.
bool is_a(const std::string& kind, const std::string& path);

/// Before any work: whether the file that an option names can be written. Only what is of the same
/// kind, or empty, is replaced: a file given by mistake survives.
/// @param kind  "trace", "data set", "checkpoint" or "scores"
/// @throws BadInput
void check_output(const Settings& settings, const std::string& option, const std::string& kind);

/// The same for a file of text: only what begins with this line, or is empty, is replaced.
void check_text_output(const Settings& settings, const std::string& option,
                       const std::string& line);

}  // namespace quorate
