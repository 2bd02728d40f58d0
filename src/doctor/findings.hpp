// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "doctor/facts.hpp"
#include "jobs/request.hpp"

namespace quorate {

/// Judges what `quorate doctor` has found out. Local; looks at nothing but the facts.
/// @return what speaks against a run, errors first, each with a remedy: an error would end the run,
///         anything else makes it slow or its times worthless
std::vector<Finding> judge(const DoctorFacts& facts);

}  // namespace quorate
