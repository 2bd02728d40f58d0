// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "base/settings.hpp"
#include "data/data_set.hpp"
#include "tables/raw_table.hpp"

namespace quorate {

/// Chooses the format of the input, reads all files into the table, and says what it has found.
/// @param settings  of an import; receives what was found of the input: its format
/// @param like      the data set that the rows are to be like
/// @return how many rows are those of --input; the others are those of --test-input
/// @throws BadInput if an option or a file is wrong  @throws Failure if the table cannot be written
std::int64_t read_table(Settings& settings, const std::optional<DataSet>& like, RawTable& table);

}  // namespace quorate
