// SPDX-License-Identifier: BSD-2-Clause
// Help as text for a terminal of 80 columns.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "parts/components.hpp"

namespace quorate {

/// The width of a terminal, which no line of a help exceeds, and the column of what is said there
/// of an option.
inline constexpr std::size_t help_width = 80, help_column = 24;

/// Returns what `quorate COMMAND --help` prints: the options that most people need, examples, and
/// the names of the others; with --help=all all options in groups. If schemes or other components
/// are given, the help is of their options only.
/// @throws BadInput for a component that is not there, with the nearest name
std::string usage(const Command& command, const Settings& settings);

/// Returns how times are written, if any of these options takes one.
std::string times_are_written(const std::vector<Option>& options);

/// Returns a text with what stands in brackets behind it: a default, or a source; empty: nothing.
std::string with_brackets(const std::string& text, const std::string& in_brackets);

/// Returns text beside a head, in lines from help_column on.
std::string beside(const std::string& head, const std::string& text);

/// Returns what a component is: its text, its source, its options and an example.
std::string component_help(const Component& component);

}  // namespace quorate
