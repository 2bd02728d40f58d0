// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "model/data_shape.hpp"

namespace quorate {

/// The labels of a data set, made from those of a file.
struct Labels {
    LearningTask task = LearningTask::binary;
    std::vector<double> value;       // of each kept row: +1 or -1, a class from 0, or a number
    std::vector<std::int64_t> kept;  // the numbers of the rows that are kept, ascending
    std::vector<std::string> class_names;  // the labels in the file of the classes, by number;
                                           // of a regression empty
};

/// The options --task, --label-map and --label-scale, which map_labels() reads.
std::vector<Option> label_options();

/// Maps labels as --label-map says, drops rows whose label it drops, and numbers the classes: words
/// in alphabetical order. Local. O(rows log classes).
/// @param labels  of all rows, as they stand in the file
/// @param words   if there are some, labels are their numbers
/// @param train   how many rows, the first ones, are training rows; the others are test rows of
///         another file
/// @throws BadInput if the labels are not what --task says, the map has no place for one, or the
///         test rows have classes that the training rows lack; if these are few of many, it warns
Labels map_labels(const std::vector<double>& labels, const Settings& settings,
                  const std::vector<std::string>& words = {},
                  std::int64_t train = std::numeric_limits<std::int64_t>::max());

/// Maps labels like map_labels(), but to the task and the classes of an existing data set. Keeps
/// every row: one without label, or whose label is dropped, gets NaN. Labels that are numbers, none
/// of which is a class, stand for none, as files of rows to predict have them: they become NaN,
/// with a warning.
/// @param class_names  of that data set, as text
/// @throws BadInput if a label is none of these classes otherwise
Labels map_labels_like(const std::vector<double>& labels, const Settings& settings,
                       const std::vector<std::string>& words, LearningTask task,
                       const std::vector<std::string>& class_names);

}  // namespace quorate
