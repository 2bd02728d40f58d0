// SPDX-License-Identifier: BSD-2-Clause
// Softmax (multinomial logistic) regression: loss log(sum_c exp(z_c)) - z_y with z = x'W.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "model/learning_task.hpp"
#include "model/linear_model.hpp"
#include "model/metrics.hpp"
#include "model/models.hpp"

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
        const auto at_once = std::min(rows, std::max<std::int64_t>(1, 2048 / classes_));
        Eigen::ArrayXd e(whole_vectors(at_once * classes_)), total(whole_vectors(at_once));
        std::vector<double> rest(static_cast<std::size_t>(at_once));
        double sum = 0;
        for (std::int64_t first = 0; first < rows; first += at_once) {
            const auto count = std::min(at_once, rows - first);
            for (std::int64_t i = 0; i < count; ++i)
                rest[static_cast<std::size_t>(i)] =
                    shift(scores + (first + i) * classes_, class_of(labels[first + i]),
                          e.data() + i * classes_);
            e.tail(e.size() - count * classes_).setZero();
            e = e.exp();
            total.setOnes();
            for (std::int64_t i = 0; i < count; ++i) total[i] = add_up(e.data() + i * classes_);
            const Eigen::ArrayXd logarithm = total.log();
            for (std::int64_t i = 0; i < count; ++i) {
                sum += rest[static_cast<std::size_t>(i)] + logarithm[i];
                if (!weights) continue;
                double* r = weights + (first + i) * classes_;  // r = P - onehot(y)
                const double* p = e.data() + i * classes_;
                for (std::int64_t c = 0; c < classes_; ++c) r[c] = p[c] / total[i];
                r[class_of(labels[first + i])] -= 1;
            }
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
    // Functions of whole vectors only, so that a row gives the same bits wherever it stands.
    static std::int64_t whole_vectors(std::int64_t count) { return (count + 7) & ~std::int64_t{7}; }

    // Scores less the largest, so that no exponential overflows. @return what is left of the loss
    double shift(const double* z, std::int64_t label, double* shifted) const
    {
        const double largest = *std::max_element(z, z + classes_);
        for (std::int64_t c = 0; c < classes_; ++c) shifted[c] = z[c] - largest;
        return largest - z[label];
    }

    // The exponentials of a row. Eigen's do not go below 5.6e-309, and products with such numbers
    // are slow.
    double add_up(double* e) const
    {
        double total = 0;
        for (std::int64_t c = 0; c < classes_; ++c) {
            e[c] = e[c] < 1e-300 ? 0 : e[c];
            total += e[c];
        }
        return total;
    }

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

ModelEntry<SoftmaxOptions> SoftmaxOptions::entry()
{
    return {.name = "softmax",
            .text = "multinomial logistic regression on classes, a score for each",
            .source = "textbook",
            .options = {{&SoftmaxOptions::top_k, top_k_row()}},
            .make = [](const SoftmaxOptions& given, const DataShape& data) {
                require_task(data, {LearningTask::binary, LearningTask::multiclass});
                return std::make_unique<LinearModel>(softmax_loss(data, given.top_k));
            }};
}

}  // namespace quorate
