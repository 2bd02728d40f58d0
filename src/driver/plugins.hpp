// SPDX-License-Identifier: BSD-2-Clause
// Shared objects that add components; quorate/quorate.hpp says how one is written.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// --plugin, which every command has.
Option plugin_option();

/// Loads a plugin, unless it is loaded. Before options are read: its components bring their own.
/// @throws BadInput if it cannot be loaded, is no plugin, or was built with another version, compiler, MPI or
///         index width
void load_plugin(const std::string& path);

/// Loads those that the words of a command, or an INI file or manifest among them, name.
/// @throws BadInput
void load_plugins(const std::vector<std::string>& words);

/// The plugins that are loaded, as traces record them: "FILE SHA-256", one behind the other; empty: none.
std::string loaded_plugins();

/// Refuses to go on with a run of other plugins.
/// @param path  of its trace or checkpoint  @param recorded  as loaded_plugins() gave it
/// @throws BadInput unless the same files are loaded, under whatever names
void check_same_plugins(const std::string& path, const std::string& recorded);

}  // namespace quorate
