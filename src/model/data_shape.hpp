// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

namespace quorate {

/// What labels mean: binary +1 and -1; multiclass 0, 1, ...; or any number.
enum class LearningTask { binary, multiclass, regression };

/// What a model must know of a data set.
struct DataShape {
    std::int64_t columns = 0;
    LearningTask task = LearningTask::binary;
    std::int64_t classes = 2;  // of a multiclass task
    /// If rows are images, their size: pixel (c, i, j) is column (c * height + i) * width + j. Else
    /// 0.
    std::int64_t channels = 0, height = 0, width = 0;
    double entries_per_row = 0;  // on average; columns if dense
    bool dense = false;

    bool image() const { return channels > 0; }
    /// Sets the size of images. @param text  CxHxW
    /// @return false if the text has another form or is not as many pixels as columns; nothing
    ///     changes
    bool set_image(const std::string& text);
};

/// Returns binary, multiclass or regression, as data sets store it.
std::string name_of(LearningTask task);

}  // namespace quorate
