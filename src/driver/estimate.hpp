// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "job/manifest.hpp"

namespace quorate {

/// What runs will need, as far as a dry simulation and the data set say.
struct Estimate {
    double seconds = 0;  // of the longest run: rounds only
    double memory = 0;   // bytes of all ranks; 0: the data set is not there yet
    std::string memory_reason;
};

/// Simulates the first run of each scheme, some rounds of each.
/// @param folder  of the manifest
/// @throws BadInput if a run has options that a simulation refuses, with the line of the manifest
Estimate estimate(const Manifest& manifest, const std::string& folder);

}  // namespace quorate
