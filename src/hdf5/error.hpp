// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

namespace quorate::h5 {

/// Returns the innermost error of HDF5's error stack. If a system call failed, this is its file and
/// the system's reason. Empty: there is none.
std::string reason();
/// Throws Failure "HDF5: cannot <what>" with HDF5's reason if what a call returned is negative.
void check(std::int64_t status, const std::string& what);

}  // namespace quorate::h5
