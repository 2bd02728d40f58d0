// SPDX-License-Identifier: BSD-2-Clause
#include "model/learning_task.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quorate {

void require_task(const Settings& settings, const DataShape& data,
                  const std::vector<LearningTask>& tasks)
{
    if (std::ranges::find(tasks, data.task) != tasks.end()) return;
    switch (data.task) {
        case LearningTask::binary:
            settings.refuse("model",
                            ", which is not for labels of two classes: use logistic, "
                            "hinge, squared-hinge, ridge, softmax, mlp or cnn");
        case LearningTask::multiclass:
            settings.refuse(
                "model",
                fmt::format(", but the data set has {} classes: use softmax, mlp or cnn, or import "
                            "it with {}a --label-map to -1 and 1",
                            data.classes,
                            std::ranges::find(tasks, LearningTask::regression) != tasks.end()
                                ? "--task regression if its labels are amounts, or with "
                                : ""));
        case LearningTask::regression:
            settings.refuse("model",
                            ", but the labels of the data set are numbers, not classes: "
                            "use ridge, or mlp with --loss squared");
    }
}

Option threshold_option()
{
    return {"threshold", "SCORE", "0", "rows with a higher score are called positive"};
}

Option top_k_option()
{
    return {"top-k", "K", "5", "the metric top_k counts rows whose class is among the best K"};
}

}  // namespace quorate
