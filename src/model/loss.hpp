// SPDX-License-Identifier: BSD-2-Clause
// Losses of scores. A model turns rows into scores; a loss compares scores with labels. Linear
// models and networks share the losses.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "model/data_shape.hpp"
#include "model/quality.hpp"

namespace quorate {

/// Losses of many rows are added up by tiles of so many, whoever scores them.
inline constexpr std::int64_t score_tile = 256;

/// Stateless and safe to share.
class Loss {
public:
    virtual ~Loss() = default;
    /// Scores of a row.
    virtual std::int64_t outputs() const { return 1; }
    /// Returns the sum of the losses of `rows` rows. A row gives the same bits wherever among them
    /// it stands. O(rows x outputs).
    /// @param scores   rows x outputs(), row by row
    /// @param labels   rows
    /// @param weights  if not null, receives the derivatives of the losses by the scores, in their
    ///                 order
    virtual double evaluate(const double* scores, const double* labels, std::int64_t rows,
                            double* weights) const = 0;
    /// Returns the mean of the losses of rows with these scores; NaN if there are none.
    double mean(std::span<const double> scores, std::span<const double> labels) const
    {
        const auto rows = static_cast<std::int64_t>(labels.size());
        if (rows == 0) return Quality::none;
        return evaluate(scores.data(), labels.data(), rows, nullptr) / static_cast<double>(rows);
    }
    /// The largest second derivative by the scores; NaN if there is no bound, or none that is
    /// useful.
    virtual double curvature() const { return std::numeric_limits<double>::quiet_NaN(); }
    /// Returns how many rows are classified rightly; NaN if labels are not classes.
    virtual double hits(std::span<const double> scores, std::span<const double> labels) const = 0;
    /// Returns the number of the class that each row is called; empty if labels are not classes.
    virtual std::vector<std::int64_t> classes(std::span<const double> /*scores*/) const
    {
        return {};
    }
    /// Returns the probabilities of the classes, rows x classes, which add up to one in each row;
    /// empty if the loss gives scores no such meaning.
    virtual std::vector<double> probabilities(std::span<const double> /*scores*/) const
    {
        return {};
    }
    /// Computes all metrics of rows with these scores.
    virtual Quality quality(std::span<const double> scores,
                            std::span<const double> labels) const = 0;
};

/// log(1 + exp(-m)), m = label x score.
std::unique_ptr<Loss> logistic_loss(double threshold);
/// max(0, 1 - m); its subgradient at m = 1 is 0.
std::unique_ptr<Loss> hinge_loss(double threshold);
/// max(0, 1 - m)^2.
std::unique_ptr<Loss> squared_hinge_loss(double threshold);
/// (score - label)^2. @param threshold  of rows called positive, if the labels are two classes
std::unique_ptr<Loss> squared_loss(LearningTask task, double threshold);
/// log(sum_c exp(z_c)) - z_label. Labels 0..classes-1; a binary task's -1 and 1 are classes 0 and
/// 1.
std::unique_ptr<Loss> softmax_loss(const DataShape& data, std::int64_t top_k);

}  // namespace quorate
