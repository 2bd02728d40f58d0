// SPDX-License-Identifier: BSD-2-Clause
// The file that a command is going to write: what is in it, and checks.
#pragma once

#include <string>

#include "base/settings.hpp"

namespace quorate {

/// Returns the attribute `format` of an HDF5 file, such as "quorate trace"; empty if it has none.
/// Local.
/// @throws BadInput if the file cannot be opened
std::string format_of(const std::string& path);

/// Whether a file is an HDF5 file of this kind, by its attribute `format`. False for a file that
/// cannot be opened. Local.
/// @param kind  "trace", "data set", "checkpoint", "scores", ...
bool is_a(const std::string& kind, const std::string& path);

/// Returns the first line of a file, without its end; empty if it cannot be read. Local.
std::string first_line(const std::string& path);

/// Checks, before any work, that the file that an option names can be written. A file that is there
/// may be replaced only if it is empty or of the same kind, so that a file given by mistake
/// survives. Local.
/// @param kind  as for is_a()
/// @throws BadInput if it cannot be written, or holds something else
void check_output(const Settings& settings, const std::string& option, const std::string& kind);

/// Checks the data set that --output names likewise. One that is there is replaced only with
/// --overwrite.
/// @throws BadInput as check_output(), or if it would be replaced
void check_new_data_set(const Settings& settings);

/// Checks a file of text likewise: one that is there must be empty or begin with this. Local.
/// @param line  the names of the first columns, or of all
/// @throws BadInput if it cannot be written, or holds something else
void check_text_output(const Settings& settings, const std::string& option,
                       const std::string& line);

}  // namespace quorate
