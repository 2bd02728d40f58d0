// SPDX-License-Identifier: BSD-2-Clause
// Softmax (multinomial logistic) regression: loss log(sum_c exp(z_c)) - z_y with z = x'W.
#include <algorithm>
#include <cmath>

#include "model/learning_task.hpp"
#include "model/linear_model.hpp"
#include "model/metrics.hpp"

namespace quorate {

namespace {

class SoftmaxLoss final : public Loss {
public:
    SoftmaxLoss(const DataShape& data, std::int64_t top_k)
        : binary_(data.task == LearningTask::binary), classes_(binary_ ? 2 : data.classes),
          top_k_(top_k)
    {
    }

    std::int64_t outputs() const override { return classes_; }

    double curvature() const override { return 0.5; }

    double evaluate(const double* scores, const double* labels, std::int64_t rows,
                    double* weights) const override
    {
        double sum = 0;
        std::vector<double> e(static_cast<std::size_t>(classes_));
        for (std::int64_t i = 0; i < rows; ++i) {
            const double* z = scores + i * classes_;
            const auto label = class_of(labels[i]);
            const double largest = *std::max_element(z, z + classes_);
            double total = e[0] = std::exp(z[0] - largest);
            for (std::size_t c = 1; c < e.size(); ++c) total += e[c] = std::exp(z[c] - largest);
            sum += largest - z[label] + std::log(total);
            if (!weights) continue;
            double* r = weights + i * classes_;  // r = P - onehot(y)
            for (std::size_t c = 0; c < e.size(); ++c) r[c] = e[c] / total;
            r[label] -= 1;
        }
        return sum;
    }

    double hits(std::span<const double> scores, std::span<const double> labels) const override
    {
        return top_hits(scores, classes_of(labels), classes_, 1);
    }

    std::vector<std::int64_t> classes(std::span<const double> scores) const override
    {
        std::vector<std::int64_t> all;
        for (auto z = scores.begin(); z != scores.end(); z += classes_)
            all.push_back(std::max_element(z, z + classes_) - z);
        return all;
    }

    std::vector<double> probabilities(std::span<const double> scores) const override
    {
        std::vector<double> all;
        for (auto z = scores.begin(); z != scores.end(); z += classes_) {
            const double largest = *std::max_element(z, z + classes_);
            double total = 0;
            for (auto at = z; at != z + classes_; ++at) total += std::exp(*at - largest);
            for (auto at = z; at != z + classes_; ++at)
                all.push_back(std::exp(*at - largest) / total);
        }
        return all;
    }

    Quality quality(std::span<const double> scores, std::span<const double> labels) const override
    {
        if (labels.empty()) return {};
        Quality quality;
        if (binary_) {  // the score of two classes is the difference of theirs
            std::vector<double> difference;
            for (std::size_t i = 0; i < labels.size(); ++i)
                difference.push_back(scores[2 * i + 1] - scores[2 * i]);
            quality = two_class_quality(difference, labels, 0);
        } else {
            const auto classes = classes_of(labels);
            quality = class_means(scores, classes, classes_);
            quality.top_k =
                top_hits(scores, classes, classes_, top_k_) / static_cast<double>(labels.size());
        }
        quality.loss = mean(scores, labels);
        return quality;
    }

private:
    std::int64_t class_of(double label) const
    {
        return binary_ ? label > 0 : static_cast<std::int64_t>(label);
    }
    std::vector<double> classes_of(std::span<const double> labels) const
    {
        std::vector<double> classes;
        for (const double label : labels) classes.push_back(static_cast<double>(class_of(label)));
        return classes;
    }

    bool binary_;
    std::int64_t classes_, top_k_;
};

}  // namespace

std::unique_ptr<Loss> softmax_loss(const DataShape& data, std::int64_t top_k)
{
    return std::make_unique<SoftmaxLoss>(data, top_k);
}

Entry<MakeModel> softmax_entry()
{
    return {
        .name = "softmax",
        .text = "multinomial logistic regression on classes, a score for each",
        .source = "textbook",
        .options = {top_k_option()},
        .make = [](const Settings& settings, const DataShape& data) {
            require_task(settings, data, {LearningTask::binary, LearningTask::multiclass});
            return std::make_unique<LinearModel>(softmax_loss(data, settings.integer("top-k", 1)));
        }};
}

}  // namespace quorate
