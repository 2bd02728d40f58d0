// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace quorate {

/// Becomes the Python that the program was configured with, running a script of the analysis's
/// folder: returns only if that fails.
/// @throws Failure
int become_python(const std::string& script, const std::vector<std::string>& words);

}  // namespace quorate
