// SPDX-License-Identifier: BSD-2-Clause
// Logistic regression: loss log(1 + exp(-m)) with margin m = y x.w, labels y = +1 or -1.
#include <limits>
#include <numbers>

#include "model/linear.hpp"
#include "model/metrics.hpp"
#include "model/model.hpp"

namespace quorate {

namespace {

// Stable for every margin: with e = exp(-|m|) nothing overflows,
//   loss = max(0, -m) + log1p(e),   sigma(-m) = e / (1 + e) for m >= 0, 1 / (1 + e) else.
template <class Margin>
double loss_sum(const Margin& margin)
{
    return ((-margin).max(0.0) + (-margin.abs()).exp().log1p()).sum();
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
            auto m = margin.head(count);
            m = z.head(count) * y.head(count);
            e.head(count) = (-m.abs()).exp();
            r.head(count) = -y.head(count) * (m >= 0).select(e.head(count), 1.0) / (1 + e.head(count));
            return ((-m).max(0.0) + e.head(count).log1p()).sum();
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
        using Values = Eigen::Map<const Eigen::ArrayXd>;
        const auto count = static_cast<Eigen::Index>(scores.size());
        const Eigen::ArrayXd margin = Values(scores.data(), count) * Values(labels.data(), count);
        return loss_sum(margin);
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
            .make = [](const Settings&) -> std::unique_ptr<Model> { return std::make_unique<Logistic>(); }};
}

}  // namespace quorate
