// SPDX-License-Identifier: BSD-2-Clause
// Logistic regression: loss log(1 + exp(-m)) with margin m = y x.w, labels y = +1 or -1.
#include <algorithm>
#include <cmath>

#include "model/learning_task.hpp"
#include "model/linear_model.hpp"
#include "model/metrics.hpp"
#include "model/models.hpp"
#include "model/two_class_loss.hpp"

namespace quorate {

namespace {

class LogisticLoss final : public TwoClassLoss {
public:
    using TwoClassLoss::TwoClassLoss;

    double curvature() const override { return 0.25; }

    // Stable for every margin: with e = exp(-|m|) and u = fl(1 + e) nothing overflows,
    //   loss = max(0, -m) + log1p(e),   sigma(-m) = (m < 0 ? 1 : e) / u.
    // Eigen has log1p, but twice as slow as its log: log u lacks the log of (1 + e) / u, which is
    // (e - (u - 1)) / u and exact in what it subtracts.
    double evaluate(const double* scores, const double* labels, std::int64_t rows,
                    double* weights) const override
    {
        double sum = 0;
        Tile margin, e, u, loss;
        for (std::int64_t first = 0; first < rows; first += linear::tile) {
            const auto count = std::min(linear::tile, rows - first);
            const auto size = fill_margins(scores + first, labels + first, count, margin);
            e.head(size) = (-margin.head(size).abs()).exp();
            u.head(size) = 1 + e.head(size);
            loss.head(size) = (-margin.head(size)).max(0) +
                              (u.head(size).log() + (e - (u - 1)).head(size) / u.head(size));
            loss.segment(count, size - count).setZero();
            sum += loss.head(size).sum();
            if (weights)
                derivatives(count, labels + first, margin.data(), e.data(), u.data(),
                            weights + first);
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

private:
    // Of plain arrays: with Eigen's checks of bounds the compiler would not vectorise it.
    static void derivatives(std::int64_t count, const double* labels, const double* margin,
                            const double* e, const double* u, double* weights)
    {
        for (std::int64_t i = 0; i < count; ++i)
            weights[i] = -labels[i] * ((margin[i] < 0 ? 1.0 : e[i]) / u[i]);
    }
};

}  // namespace

std::unique_ptr<Loss> logistic_loss(double threshold)
{
    return std::make_unique<LogisticLoss>(threshold);
}

ModelEntry<LogisticOptions> LogisticOptions::entry()
{
    return {.name = "logistic",
            .text = "logistic regression on labels +1 and -1, score x.w",
            .source = "textbook; stable form",
            .options = {{&LogisticOptions::threshold, threshold_row()}},
            .make = [](const LogisticOptions& given, const DataShape& data) {
                require_task(data, {LearningTask::binary});
                return std::make_unique<LinearModel>(logistic_loss(given.threshold));
            }};
}

}  // namespace quorate
