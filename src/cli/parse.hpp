// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace quorate {

/// Values of the command's options: from the command line, else from the INI file that --config
/// names, else the defaults.
/// @throws BadInput for an unknown option (with the nearest one), a missing argument or operand, or
///         a malformed INI file (with file and line). Names are never abbreviated.
Settings parse(const Command& command, const std::vector<std::string>& arguments);

/// Options that every command has.
std::vector<Option> common_options();

/// What `quorate COMMAND --help` prints.
std::string usage(const Command& command);

}  // namespace quorate
