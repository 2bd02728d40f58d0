// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace quorate {

/// Returns the values of the command's options, and of its operand. A value comes from the command
/// line, else from the INI file that --config names, else from the row of the manifest that
/// --manifest and --row name, else it is the default. Names of options are never abbreviated.
/// Local. Of a command line with --help nothing else is checked but options; the value is all if it
/// is --help=all.
/// @param arguments  the words behind the command's name
/// @throws BadInput for an unknown option (with the nearest one), one that is given twice, a
///         missing argument or operand, or a malformed INI file or manifest (with file and line)
Settings parse(const Command& command, const std::vector<std::string>& arguments);

/// Returns the options of a command: its own, and those that every command has.
std::vector<Option> all_options(const Command& command);

}  // namespace quorate
