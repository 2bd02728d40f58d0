// SPDX-License-Identifier: BSD-2-Clause
#include "model/data_shape.hpp"

#include "base/text.hpp"

namespace quorate {

std::string name_of(LearningTask task)
{
    return task == LearningTask::binary       ? "binary"
           : task == LearningTask::multiclass ? "multiclass"
                                              : "regression";
}

bool DataShape::set_image(const std::string& text)
{
    const auto words = split(text, 'x');
    if (words.size() != 3) return false;
    std::int64_t size[3];
    for (std::size_t i = 0; i < 3; ++i) {
        size[i] = to_integer(words[i]).value_or(0);
        if (size[i] < 1 || size[i] > columns) return false;
    }
    if (size[0] * size[1] > columns || size[0] * size[1] * size[2] != columns) return false;
    channels = size[0];
    height = size[1];
    width = size[2];
    return true;
}

}  // namespace quorate
