// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "trace/reader.hpp"

namespace quorate {

/// Runs `quorate simulate` in a process of its own (MPI can be begun once only), with these words, quietly.
/// @return its trace, without arrivals, which is not kept
/// @throws BadInput with what it refused
trace::Trace simulate_apart(const std::vector<std::string>& words);

}  // namespace quorate
