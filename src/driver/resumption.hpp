// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "driver/checkpoint.hpp"
#include "trace/reader.hpp"

namespace quorate {

/// A run that is to go on: its checkpoint, and its trace up to the checkpoint.
struct Resumption {
    Checkpoint checkpoint;
    trace::Trace trace;
    bool completed = false;  // all rounds are done; then the members above are empty

    /// Returns what the engine resumes from. Copies the points.
    Past past() const;
};

/// Checks the files of a run before any work, and reads what it goes on from. Tells the user
/// whether the run is complete, goes on or begins. Coordinator only. O(size of the trace and the
/// checkpoint).
/// @return nothing if the run begins: --resume is not given, there is no checkpoint yet, or it is a
///         dry run that is not complete
/// @throws BadInput if the options, the data and the files are not those of one run; if a file
///         cannot be written; or if a trace or checkpoint that is worth keeping would be replaced
std::optional<Resumption> resumption(const Settings& settings, const Training& training);

/// Returns the effective options of a run as INI text, with which the run can be made again.
/// Options that nothing reads are left out.
/// @param dry  whether options of data are left out too
std::string configuration(const Settings& settings, bool dry);

}  // namespace quorate
