// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "base/settings.hpp"

namespace quorate {

/// Writes the data set of --output: the rows of that of --data, a regression, mixed by a tight
/// frame (code/tight_frame.hpp), and its test rows as they are. It is dense. Local, on all cores.
/// Begins MPI after all checks. Holds the rows and the encoded ones: O(N columns log N) for N
/// encoded rows.
/// @return what was written, in a line
/// @throws BadInput if an option or the data set is wrong  @throws Failure if writing fails
std::string encode_data(const Settings& settings);

}  // namespace quorate
