// SPDX-License-Identifier: BSD-2-Clause
// Logistic regression: loss log(1 + exp(-m)) with margin m = y x.w, labels y = +1 or -1.
#include <algorithm>
#include <cmath>

#include "model/learning_task.hpp"
#include "model/linear_model.hpp"
#include "model/metrics.hpp"
#include "model/two_class_loss.hpp"

namespace quorate {

namespace {

class LogisticLoss final : public TwoClassLoss {
public:
    using TwoClassLoss::TwoClassLoss;

    // Stable for every margin: with e = exp(-|m|) nothing overflows,
    //   loss = max(0, -m) + log1p(e),   sigma(-m) = e / (1 + e) for m >= 0, 1 / (1 + e) else.
    // Eigen has no vectorised log1p; Kahan's form, log(u) e / (u - 1) with u = fl(1 + e), is as
    // exact.
    double curvature() const override { return 0.25; }

    double evaluate(const double* scores, const double* labels, std::int64_t rows,
                    double* weights) const override
    {
        double sum = 0;
        Tile margin, e, log_u;
        for (std::int64_t first = 0; first < rows; first += linear::tile) {
            const auto count = std::min(linear::tile, rows - first);
            const auto size = fill_margins(scores + first, labels + first, count, margin);
            e.head(size) = (-margin.head(size).abs()).exp();
            log_u.head(size) = (1 + e.head(size)).log();
            for (std::int64_t i = 0; i < count; ++i) {
                const double rest = 1 + e[i] - 1;
                sum += std::max(0.0, -margin[i]) + (rest == 0 ? e[i] : log_u[i] * e[i] / rest);
            }
            if (!weights) continue;
            for (std::int64_t i = 0; i < count; ++i)  // r = -y sigma(-m)
                weights[first + i] =
                    -labels[first + i] * (margin[i] >= 0 ? e[i] : 1.0) / (1 + e[i]);
        }
        return sum;
    }

    std::vector<double> probabilities(std::span<const double> scores) const override
    {
        std::vector<double> all;
        for (const double z : scores) {
            const double e = std::exp(-std::abs(z)), less = e / (1 + e), more = 1 / (1 + e);
            all.insert(all.end(), {z > 0 ? less : more, z > 0 ? more : less});
        }
        return all;
    }
};

}  // namespace

std::unique_ptr<Loss> logistic_loss(double threshold)
{
    return std::make_unique<LogisticLoss>(threshold);
}

Entry<MakeModel> logistic_entry()
{
    return {.name = "logistic",
            .text = "logistic regression on labels +1 and -1, score x.w",
            .source = "textbook; stable form",
            .options = {threshold_option()},
            .make = [](const Settings& settings, const DataShape& data) {
                require_task(settings, data, {LearningTask::binary});
                return std::make_unique<LinearModel>(logistic_loss(threshold_of(settings)));
            }};
}

}  // namespace quorate
