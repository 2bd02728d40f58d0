// SPDX-License-Identifier: BSD-2-Clause
// The rounds that a run has lost, because it went back to a checkpoint: /lost/0, /lost/1, ... of
// its trace. Local. Functions throw Failure if HDF5 fails; see hdf5/hdf5.hpp for threads.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "trace/sink.hpp"
#include "trace/trace.hpp"

namespace quorate::trace {

/// Copies the rows behind a position to the next group of /lost, unless no round is behind it. To
/// be called before they are cut off, and without a flush in between, so that a process that is
/// killed leaves them in one place or the other. Models are not copied. O(rows behind it).
/// @param why  they are lost
void keep_lost(hid_t file, const Position& position, const std::string& why);

/// Reads what was lost each time. @throws Failure if it makes no sense
std::vector<Lost> read_lost(hid_t file);

}  // namespace quorate::trace
