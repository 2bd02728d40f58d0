// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "base/settings.hpp"
#include "base/wire.hpp"
#include "compute/compression.hpp"
#include "scheme/coding.hpp"

namespace quorate {

/// Reads how a run compresses contributions. With error feedback the scheme is tried first: O(n)
/// each of some rounds for n workers, without data.
/// @param wire         the numbers that travel
/// @param coding       with which the run begins
/// @param make_coding  makes it again, to be tried
/// @throws BadInput if the options do not go together, or not with the scheme
Compression compression_of(const Settings& settings, Wire wire, const Coding& coding,
                           const MakeCoding& make_coding);

}  // namespace quorate
