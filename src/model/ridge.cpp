// SPDX-License-Identifier: BSD-2-Clause
// Least squares: loss (z - y)^2 with z = x.w; with --l2, ridge regression.
#include "model/learning_task.hpp"
#include "model/linear_model.hpp"
#include "model/models.hpp"
#include "model/two_class_loss.hpp"

namespace quorate {

namespace {

class SquaredLoss final : public Loss {
public:
    SquaredLoss(LearningTask task, double threshold) : task_(task), threshold_(threshold) {}

    double curvature() const override { return 2; }

    double evaluate(const double* scores, const double* labels, std::int64_t rows,
                    double* weights) const override
    {
        double sum = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            const double rest = scores[i] - labels[i];
            sum += rest * rest;
            if (weights) weights[i] = 2 * rest;
        }
        return sum;
    }

    double hits(std::span<const double> scores, std::span<const double> labels) const override
    {
        return task_ == LearningTask::binary ? classification(scores, labels, threshold_).accuracy *
                                                   static_cast<double>(labels.size())
                                             : Quality::none;
    }

    std::vector<std::int64_t> classes(std::span<const double> scores) const override
    {
        if (task_ != LearningTask::binary) return {};
        return two_classes(scores, threshold_);
    }

    Quality quality(std::span<const double> scores, std::span<const double> labels) const override
    {
        auto quality = task_ == LearningTask::binary ? two_class_quality(scores, labels, threshold_)
                                                     : Quality{};
        quality.mse = quality.loss = mean(scores, labels);
        return quality;
    }

private:
    LearningTask task_;
    double threshold_;
};

}  // namespace

std::unique_ptr<Loss> squared_loss(LearningTask task, double threshold)
{
    return std::make_unique<SquaredLoss>(task, threshold);
}

ModelEntry<RidgeOptions> RidgeOptions::entry()
{
    return {.name = "ridge",
            .text = "least squares on numbers, or on labels +1 and -1; with --l2, ridge regression",
            .source = "textbook",
            .options = {{&RidgeOptions::threshold, threshold_row()}},
            .make = [](const RidgeOptions& given, const DataShape& data) {
                require_task(data, {LearningTask::binary, LearningTask::regression});
                return std::make_unique<LinearModel>(squared_loss(data.task, given.threshold));
            }};
}

}  // namespace quorate
