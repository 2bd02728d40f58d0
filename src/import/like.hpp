// SPDX-License-Identifier: BSD-2-Clause
// Imports of new rows that are to be like those of a data set, to predict with its models.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"
#include "data/data_set.hpp"
#include "tables/raw_table.hpp"

namespace quorate {

/// Returns the settings of an import with the options of the data set that it is to be like, except
/// for those that are given, and those that name files or choose rows.
Settings with_options_of(const DataSet& like, Settings settings);

/// Returns the columns of the file that a data set was made of, without their levels; empty if they
/// had no names.
std::vector<RawTable::Column> columns_of(const DataSet& like);

/// Returns how many columns that file had, if they had no names.
std::int64_t raw_columns_of(const DataSet& like);

/// Refuses a data set whose columns do not have names of their own.
/// @param features  of that data set  @throws BadInput
void check_features(const DataSet& like, const std::vector<std::string>& features);

/// Warns of columns most of whose words that data set does not have.
void warn_of_words_unlike(const Settings& settings, const DataSet& like,
                          const std::vector<std::string>& features, RawTable& table);

/// Returns the format of that file; empty if the data set does not tell.
std::string format_of(const DataSet& like);

}  // namespace quorate
