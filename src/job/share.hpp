// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace quorate {

/// This program's own file.
std::string own_path();

/// A folder that comes with the program (slurm, jobs, analysis): in the sources from which it was built, or
/// below PREFIX/share/quorate. @throws Failure if there is none
std::string shared_folder(const std::string& name);

/// Files of such a folder that end like this, in alphabetical order.
std::vector<std::string> shared_files(const std::string& folder, const std::string& extension);

}  // namespace quorate
