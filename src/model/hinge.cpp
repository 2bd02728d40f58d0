// SPDX-License-Identifier: BSD-2-Clause
// Support vector machines: the hinge loss max(0, 1 - m) with margin m = y x.w, and its square.
#include <algorithm>
#include <limits>

#include "model/learning_task.hpp"
#include "model/linear_model.hpp"
#include "model/models.hpp"
#include "model/two_class_loss.hpp"

namespace quorate {

namespace {

class HingeLoss final : public TwoClassLoss {
public:
    HingeLoss(double threshold, bool squared) : TwoClassLoss(threshold), squared_(squared) {}

    double curvature() const override
    {
        return squared_ ? 2 : std::numeric_limits<double>::quiet_NaN();
    }
    double evaluate(const double* scores, const double* labels, std::int64_t rows,
                    double* weights) const override
    {
        double sum = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            const double missing = std::max(0.0, 1 - labels[i] * scores[i]);
            sum += squared_ ? missing * missing : missing;
            if (weights) weights[i] = -labels[i] * (squared_ ? 2 * missing : missing > 0 ? 1 : 0);
        }
        return sum;
    }

private:
    bool squared_;
};

template <bool squared, class T>
std::unique_ptr<Model> make_hinge(const T& given, const DataShape& data)
{
    require_task(data, {LearningTask::binary});
    return std::make_unique<LinearModel>(std::make_unique<HingeLoss>(given.threshold, squared));
}

}  // namespace

std::unique_ptr<Loss> hinge_loss(double threshold)
{
    return std::make_unique<HingeLoss>(threshold, false);
}

std::unique_ptr<Loss> squared_hinge_loss(double threshold)
{
    return std::make_unique<HingeLoss>(threshold, true);
}

ModelEntry<HingeOptions> HingeOptions::entry()
{
    return {.name = "hinge",
            .text = "support vector machine on labels +1 and -1; its subgradient is 0 at margin 1",
            .source = "Cortes and Vapnik 1995",
            .options = {{&HingeOptions::threshold, threshold_row()}},
            .make = make_hinge<false, HingeOptions>};
}

ModelEntry<SquaredHingeOptions> SquaredHingeOptions::entry()
{
    return {.name = "squared-hinge",
            .text = "support vector machine with the square of the hinge loss, which is smooth",
            .source = "textbook (L2-loss SVM of LIBLINEAR)",
            .options = {{&SquaredHingeOptions::threshold, threshold_row()}},
            .make = make_hinge<true, SquaredHingeOptions>};
}

}  // namespace quorate
