// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace quorate {

/// Loads the plugins that a command line names: by --plugin, in the INI file of --config or
/// --experiment, in the manifest of --manifest (only of its row --row, if that is given), or in the
/// options of the run that --folder and --resume name, unless --plugin is given. Local.
/// @param words  of the command line
/// @throws BadInput as load_plugin(), or if the manifest is malformed
void load_named_plugins(const std::vector<std::string>& words);

}  // namespace quorate
