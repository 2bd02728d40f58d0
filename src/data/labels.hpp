// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"
#include "model/data_shape.hpp"

namespace quorate {

/// What became of the labels of a file.
struct Labels {
    LearningTask task = LearningTask::binary;
    std::vector<double> value;         // of each row that is kept
    std::vector<std::int64_t> kept;    // those rows
    std::vector<double> class_values;  // multiclass: the label in the file of class 0, 1, ...
};

/// --task, --label-map and --label-scale, read by map_labels().
std::vector<Option> label_options();

/// @param labels  of all rows, as they stand in the file
/// @throws BadInput if they are not what the task says, or one has no place in the map
Labels map_labels(const std::vector<double>& labels, const Settings& settings);

/// The same with the classes of a data set that is there.
/// @throws BadInput for a label that it does not have
Labels map_labels_like(const std::vector<double>& labels, const Settings& settings,
                       LearningTask task, const std::vector<double>& class_values);

}  // namespace quorate
