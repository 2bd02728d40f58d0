// SPDX-License-Identifier: BSD-2-Clause
// The base of losses for labels +1 and -1: margins, and the metrics of two classes.
#pragma once

#include <Eigen/Core>

#include "model/linear.hpp"
#include "model/loss.hpp"
#include "model/metrics.hpp"

namespace quorate {

class TwoClassLoss : public Loss {
public:
    /// @param threshold  rows with a higher score are called positive
    explicit TwoClassLoss(double threshold) : threshold_(threshold) {}

    double hits(std::span<const double> scores, std::span<const double> labels) const override
    {
        double sum = 0;
        for (std::size_t i = 0; i < scores.size(); ++i)
            sum += (scores[i] > threshold_) == (labels[i] > 0);
        return sum;
    }

    std::vector<std::int64_t> classes(std::span<const double> scores) const override
    {
        return two_classes(scores, threshold_);
    }

    Quality quality(std::span<const double> scores, std::span<const double> labels) const override
    {
        auto quality = two_class_quality(scores, labels, threshold_);
        quality.loss = mean(scores, labels);
        return quality;
    }

protected:
    using Tile = Eigen::Array<double, linear::tile, 1>;

    /// Fills in the margins of up to a tile of rows, and zeros up to a multiple of 8. So losses
    /// compute with whole vectors only, and a row gives the same bits wherever it stands. @return
    /// that multiple
    static std::int64_t fill_margins(const double* scores, const double* labels, std::int64_t count,
                                     Tile& margin)
    {
        const auto size = (count + 7) & ~std::int64_t{7};
        for (std::int64_t i = 0; i < count; ++i) margin[i] = scores[i] * labels[i];
        margin.segment(count, size - count).setZero();
        return size;
    }

private:
    double threshold_;
};

}  // namespace quorate
