// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace quorate {

/// Returns a script for bash: completion of the words behind quorate, also where a launcher starts
/// it.
std::string bash_completion();

}  // namespace quorate
