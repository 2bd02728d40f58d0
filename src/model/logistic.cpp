// SPDX-License-Identifier: BSD-2-Clause
// Logistic regression: loss log(1 + exp(-m)) with margin m = y x.w, labels y = +1 or -1.
#include <algorithm>
#include <limits>
#include <numbers>

#include "model/linear.hpp"
#include "model/metrics.hpp"
#include "model/model.hpp"

namespace quorate {

namespace {

using Values = Eigen::Map<const Eigen::ArrayXd>;

// Stable for every margin: with e = exp(-|m|) nothing overflows,
//   loss = max(0, -m) + log1p(e),   sigma(-m) = e / (1 + e) for m >= 0, 1 / (1 + e) else.
// Eigen has no vectorised log1p; Kahan's form, log(u) e / (u - 1) with u = fl(1 + e), is as exact.
double loss_sum(const double* margin, const double* e, std::int64_t rows)
{
    double sum = 0;
    linear::Tile log_u;
    for (std::int64_t first = 0; first < rows; first += linear::tile) {
        const auto count = std::min(linear::tile, rows - first);
        log_u.head(count) = (1 + Values(e + first, count)).log();
        for (std::int64_t i = 0; i < count; ++i) {
            const double small = e[first + i], rest = 1 + small - 1;
            sum +=
                std::max(0.0, -margin[first + i]) + (rest == 0 ? small : log_u[i] * small / rest);
        }
    }
    return sum;
}

class Logistic final : public Model {
public:
    std::int64_t parameters(std::int64_t columns) const override { return columns; }

    double add_gradient(const RowView& rows, std::span<const double> point, double coefficient,
                        std::span<double> gradient) const override
    {
        // r = -y sigma(-m)
        const auto weight = [](const auto& z, const auto& y, auto& r, std::int64_t count) {
            linear::Tile margin, e;
            margin.head(count) = z.head(count) * y.head(count);
            e.head(count) = (-margin.head(count).abs()).exp();
            for (std::int64_t i = 0; i < count; ++i)
                r[i] = -y[i] * (margin[i] >= 0 ? e[i] : 1.0) / (1 + e[i]);
            return loss_sum(margin.data(), e.data(), count);
        };
        return linear::add_gradient(rows, point, coefficient, gradient, std::numbers::ln2, weight);
    }

    void score(const RowView& rows, std::span<const double> point,
               std::span<double> scores) const override
    {
        linear::product(rows, point, scores.data());
    }

    double loss(std::span<const double> scores, std::span<const double> labels) const override
    {
        const auto count = static_cast<Eigen::Index>(scores.size());
        const Eigen::ArrayXd margin = Values(scores.data(), count) * Values(labels.data(), count);
        const Eigen::ArrayXd e = (-margin.abs()).exp();
        return loss_sum(margin.data(), e.data(), count);
    }

    Quality quality(std::span<const double> scores, std::span<const double> labels) const override
    {
        const double rows = static_cast<double>(scores.size());
        const auto called = classification(scores, labels, 0);
        return {.loss = rows > 0 ? loss(scores, labels) / rows
                                 : std::numeric_limits<double>::quiet_NaN(),
                .accuracy = called.accuracy,
                .auc = auc(scores, labels),
                .precision = called.precision,
                .recall = called.recall,
                .f1 = called.f1};
    }
};

}  // namespace

Entry<MakeModel> logistic_entry()
{
    return {.name = "logistic",
            .arguments = "",
            .text = "logistic regression on labels +1 and -1, score x.w, called positive above 0",
            .source = "textbook; stable form",
            .options = {},
            .make = [](const Settings&) -> std::unique_ptr<Model> {
                return std::make_unique<Logistic>();
            }};
}

}  // namespace quorate
