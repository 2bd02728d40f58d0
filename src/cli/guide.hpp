// SPDX-License-Identifier: BSD-2-Clause
// How the help of a command is laid out: what most people need first, the rest in groups, examples.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace quorate {

/// What the help of a command begins with.
struct Guide {
    std::vector<std::string> first;     // options that most people need; empty: all are shown
    std::vector<std::string> examples;  // whole commands, each to be run as it stands
};

/// Returns the guide of a command; an empty one if it needs none.
Guide guide_of(const std::string& command);

/// The title of the options that every command has.
inline constexpr const char* common_options = "general";

/// Options of one purpose.
struct OptionGroup {
    std::string title;
    std::vector<Option> options;
};

/// Returns the options of a command in groups, each option once. Those of components come after the
/// command's own, a group for each kind; those that guide.cpp does not know are the group "more".
std::vector<OptionGroup> option_groups(const Command& command);

/// Whether a group holds the options of components of one kind, which `quorate list` shows too.
bool is_of_components(const OptionGroup& group);

}  // namespace quorate
