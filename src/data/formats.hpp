// SPDX-License-Identifier: BSD-2-Clause
// The file formats that import reads.
#pragma once

#include <optional>

#include "base/registry.hpp"
#include "data/examples.hpp"

namespace quorate {

/// What was read: training rows first, then the rows of --test-input.
struct Imported {
    Examples examples;
    std::int64_t test_rows = 0;  // of --test-input
};

/// Reads --input and, if given, --test-input, so that encodings are fitted on both.
using ReadFormat = Imported (*)(const Settings&);

const std::vector<Entry<ReadFormat>>& formats();

}  // namespace quorate
