// SPDX-License-Identifier: BSD-2-Clause
#include "model/learning_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace quorate {

void require_task(const DataShape& data, const std::vector<LearningTask>& tasks)
{
    if (std::ranges::find(tasks, data.task) != tasks.end()) return;
    switch (data.task) {
        case LearningTask::binary:
            throw Refusal("model",
                          ", which is not for labels of two classes: use logistic, "
                          "hinge, squared-hinge, ridge, softmax, mlp or cnn");
        case LearningTask::multiclass:
            throw Refusal(
                "model",
                fmt::format(", but the data set has {} classes: use softmax, mlp or cnn, or import "
                            "it with {}a --label-map to -1 and 1",
                            data.classes,
                            std::ranges::find(tasks, LearningTask::regression) != tasks.end()
                                ? "--task regression if its labels are amounts, or with "
                                : ""));
        case LearningTask::regression:
            throw Refusal("model",
                          ", but the labels of the data set are numbers, not classes: "
                          "use ridge, or mlp with --loss squared");
    }
}

OptionRow threshold_row()
{
    return {{"threshold", "SCORE", "0", "rows with a higher score are called positive"},
            {.lowest = std::numeric_limits<double>::lowest()}};
}

OptionRow top_k_row()
{
    return {{"top-k", "K", "5", "the metric top_k counts rows whose class is among the best K"},
            {.lowest = 1}};
}

}  // namespace quorate
