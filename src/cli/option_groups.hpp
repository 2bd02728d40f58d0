// SPDX-License-Identifier: BSD-2-Clause
// The options of a command by their purpose, as its help tells them.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace quorate {

/// The title of the options that every command has.
inline constexpr const char* common_options = "general";

/// Options of one purpose.
struct OptionGroup {
    std::string title;
    std::vector<Option> options;
    bool of_components = false;  // of one kind, which `quorate list` tells too
};

/// Returns the options of a command in groups, each option once. Those of components come after the
/// command's own, a group for each kind; those that option_groups.cpp does not know are the group
/// "more".
std::vector<OptionGroup> option_groups(const Command& command);

}  // namespace quorate
