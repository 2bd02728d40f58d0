// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "driver/checkpoint.hpp"
#include "trace/reader.hpp"

namespace quorate {

/// A run that is to go on: its checkpoint, and its trace up to there.
struct Resumption {
    Checkpoint checkpoint;
    trace::Trace trace;
    bool completed = false;  // there is nothing left to do, and nothing above

    Past past() const;
};

/// If --resume is given, and the run is complete or there is a checkpoint. Says what is going on.
/// @throws BadInput if the options, the data or the files are not those of one run, or if a trace or
///         checkpoint would be replaced that is worth keeping
std::optional<Resumption> resumption(const Settings& settings, const Training& training);

/// What a run can be given again: its effective options as INI text.
std::string configuration(const Settings& settings, bool dry);

}  // namespace quorate
