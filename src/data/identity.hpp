// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "data/data_set.hpp"

namespace quorate {

/// Returns what tells a data set from any other one, whatever its file is called and wherever it
/// came from: its attribute content_sha256, which was computed when the file was written. Who
/// changed rows in place has removed it: then it is the SHA-256 of all attributes. O(1): reads no
/// rows.
std::string identity_of(const DataSet& data);

}  // namespace quorate
