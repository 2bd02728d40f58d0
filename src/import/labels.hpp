// SPDX-License-Identifier: BSD-2-Clause
// The labels of an import: where they come from, and what is told of them.
#pragma once

#include <cstdint>
#include <string>

#include "data/data_set.hpp"
#include "tables/labels.hpp"
#include "tables/raw_table.hpp"
#include "tables/source.hpp"

namespace quorate {

/// Replaces the labels of the rows from `first` on by those of a file.
/// @param may_be_more  whether the file may have more of them, as with --limit-rows
/// @throws BadInput if it has another number of them, or they are of another kind than others
void replace_labels(const std::string& path, const Reading& reading, std::int64_t first,
                    bool may_be_more, RawTable& table);

/// Returns the labels of the rows to use: those that are not left out.
/// @param train_rows  rows of the input; the others are those of the test input
/// @param like        a data set whose classes they are; may be null
/// @throws BadInput if rows that need labels have none, or as map_labels() and map_labels_like()
Labels labels_of(const Settings& settings, const RawTable& table, std::int64_t train_rows,
                 const DataSet* like);

/// Warns of classes that only the test rows of a split have.
/// @param train  rows as places in Labels::kept  @param test  likewise
void warn_of_classes_to_test_only(const Labels& labels, const std::vector<std::int64_t>& train,
                                  const std::vector<std::int64_t>& test);

/// Whether the classes have names of their own, which are no numbers.
bool has_words(const Labels& labels);

/// Returns the labels of the classes in one line.
std::string listed_classes(const Labels& labels);

/// Returns a summary of the labels, which is printed and kept with the data set: "3 of 8 labels
/// positive", "5 7 9 rows of the classes 0 1 2", or "labels from 0.1 to 7, mean 3".
std::string balance(const Labels& labels);

}  // namespace quorate
