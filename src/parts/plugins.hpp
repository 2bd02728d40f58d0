// SPDX-License-Identifier: BSD-2-Clause
// Shared objects that add components; quorate/quorate.hpp says how one is written.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/settings.hpp"

namespace quorate {

/// Returns the option --plugin, which every command has.
Option plugin_option();

/// Loads a plugin, unless a file with the same contents is loaded already. To be called before
/// options are read, because its components bring options of their own, and while no other thread
/// uses Quorate. Local.
/// @throws BadInput if it cannot be loaded, is no plugin, or was built with another version,
///         compiler, MPI or index width
void load_plugin(const std::string& path);

/// Has plugins whose names end with .py loaded by a function; without one they are refused.
/// @param load  called with the path; throws what is wrong with the file
void python_plugins(std::function<void(const std::string& path)> load);

/// Loads the plugins of a list, as --plugin has it.
/// @param paths   separated by commas
/// @param folder  where relative paths start; empty: the current folder
/// @throws BadInput as load_plugin()
void load_plugins(const std::string& paths, const std::filesystem::path& folder = {});

/// Returns the plugins that are loaded, as traces record them: "FILE SHA-256; FILE SHA-256", with
/// absolute paths; empty if there are none.
std::string loaded_plugins();

/// Returns their absolute paths, as --plugin takes them; empty if there are none.
std::string paths_of_plugins();

/// Refuses to go on with a run that had other plugins. Compares hashes only, because files may
/// move.
/// @param path      whose plugins these are, for the message: a trace, or a rank
/// @param recorded  its plugins, as loaded_plugins() gave them
/// @throws BadInput unless files with the same contents are loaded
void check_same_plugins(const std::string& path, const std::string& recorded);

}  // namespace quorate
