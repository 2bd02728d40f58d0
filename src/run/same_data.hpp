// SPDX-License-Identifier: BSD-2-Clause
// Whether a data set is the one that a run had: a file may have been replaced by another one of the
// same shape. So may a file of events.
#pragma once

#include <string>

#include "base/settings.hpp"
#include "data/data_set.hpp"

namespace quorate {

/// The attribute of a trace that holds identity_of() the run's data.
inline constexpr const char* data_attribute = "data_sha256";

/// Refuses data that are not those of a trace's run. O(1).
/// @param recorded  data_attribute of the trace; empty, as of a dry run: any data will do
/// @param path      of the trace, for the message
/// @param remedy    likewise
/// @throws BadInput
void check_same_data(const DataSet& data, const std::string& recorded, const std::string& path,
                     const std::string& remedy);

/// The attribute of a trace that holds the SHA-256 of the file that --events named; empty: it named
/// none.
inline constexpr const char* events_attribute = "events_sha256";

/// Returns that attribute for a run that is to begin. O(bytes of the file).
std::string digest_of_events(const Settings& settings);

}  // namespace quorate
