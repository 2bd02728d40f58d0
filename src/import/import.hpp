// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// A data set that was made from files.
struct Imported {
    std::int64_t train_rows, test_rows, columns, entries;
    std::vector<std::string> unknown_columns;  // which the data set of --like does not have
    std::int64_t left_out;                     // rows with missing values
    bool shuffled;                             // because they were sorted by label
    std::string balance;  // of the labels: "3 of 8 labels positive", "5 7 rows of the classes 0 1"
    std::vector<std::string> sources = {}, digests = {};  // files, without folders; their SHA-256
};

/// Returns the options of `quorate import`: its own, and those of labels, encodings and formats.
std::vector<Option> import_options();

/// Makes a data set from files: reads their rows, maps labels, splits and shuffles the rows,
/// encodes them, and writes --output. Shows on stderr how much was read, unless --quiet. Local.
/// Rows wait in a temporary file beside the output; O(bytes of the files).
/// @param settings  with all of import_options()
/// @throws BadInput if an option or a file is wrong  @throws Failure if a file cannot be written
Imported import_files(const Settings& settings);

}  // namespace quorate
