// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "doctor/facts.hpp"
#include "jobs/request.hpp"

namespace quorate {

/// Judges what the ranks say of PyTorch: whether it is the same one, how they share GPUs. Local.
/// @return findings as judge() returns them; none if Python has not run the program
std::vector<Finding> judge_torch(const DoctorFacts& facts);

}  // namespace quorate
