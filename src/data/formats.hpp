// SPDX-License-Identifier: BSD-2-Clause
// The file formats that import reads.
#pragma once

#include "base/registry.hpp"
#include "data/raw_table.hpp"
#include "data/source.hpp"

namespace quorate {

/// How a format is read.
struct Format {
    /// Adds the rows of a file. Called for the input, then for the test input.
    /// @throws BadInput with the place of what is wrong
    void (*read)(const Settings&, const std::string& path, const Reading&, RawTable&);
    /// Whether a file that begins so (up to 64 decompressed bytes) is surely of this format.
    bool (*begins)(const std::string& bytes);
};

const std::vector<Entry<Format>>& formats();

/// Labels from a file of their own: IDX, a PETSc vector, or text with a number in each line.
/// @throws BadInput
std::vector<double> read_labels(const std::string& path, const Reading& reading);

}  // namespace quorate
