// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"
#include "model/data_shape.hpp"

namespace quorate {

/// The labels of a data set, made from those of a file.
struct Labels {
    LearningTask task = LearningTask::binary;
    std::vector<double> value;         // of each kept row: +1 or -1, a class from 0, or a number
    std::vector<std::int64_t> kept;    // the numbers of the rows that are kept, ascending
    std::vector<double> class_values;  // the labels in the file of the classes, ascending; of a
                                       // regression empty
};

/// The options --task, --label-map and --label-scale, which map_labels() reads.
std::vector<Option> label_options();

/// Maps labels as --label-map says, drops rows whose label it drops, and numbers the classes.
/// Local. O(rows log classes).
/// @param labels  of all rows, as they stand in the file
/// @throws BadInput if the labels are not what --task says, or the map has no place for one
Labels map_labels(const std::vector<double>& labels, const Settings& settings);

/// Maps labels like map_labels(), but to the task and the classes of an existing data set.
/// @param class_values  of that data set
/// @throws BadInput if a label is none of these classes
Labels map_labels_like(const std::vector<double>& labels, const Settings& settings,
                       LearningTask task, const std::vector<double>& class_values);

}  // namespace quorate
