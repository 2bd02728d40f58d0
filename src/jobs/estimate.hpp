// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "jobs/manifest.hpp"

namespace quorate {

/// What the runs of a manifest will need, as far as a dry simulation and the data set tell.
struct Estimate {
    double seconds = 0;  // of the rounds of the longest run, without start-up and scoring
    /// Bytes of all ranks together, where each host has as much as the one that needs most; 0: the
    /// data set is not there yet.
    double memory = 0;
    std::string memory_reason;  // how `memory` was computed, for people; empty if it is 0
};

/// Estimates what the runs of a manifest need. Simulates 50 rounds at most of the first run of each
/// scheme, without data, and scales the time to the most rounds of any run. Contributions are added
/// up in the way that --aggregate takes over so many hosts if all workers touch all columns. Local.
/// @param folder  of the manifest; paths of data sets start there
/// @param hosts   over which a job spreads its ranks; 1: one, or not known
/// @throws BadInput if a run has options that a simulation refuses, with the line of the manifest
Estimate estimate(const Manifest& manifest, const std::string& folder, std::int64_t hosts = 1);

}  // namespace quorate
