// SPDX-License-Identifier: BSD-2-Clause
// A model: a loss on rows of data, and its gradient. Pure mathematics: no MPI, no clock, no files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/registry.hpp"
#include "model/row_view.hpp"

namespace quorate {

/// How well a model does on a set of rows. NaN: the model does not have it, or there are no rows.
struct Quality {
    double loss = 0;  // mean over the rows, without regulariser
    double accuracy = 0, auc = 0, precision = 0, recall = 0, f1 = 0;
};

/// Stateless and safe to share. Local; no communication.
class Model {
public:
    virtual ~Model() = default;

    /// Number of parameters for data of that many columns.
    virtual std::int64_t parameters(std::int64_t columns) const = 0;

    /// gradient += coefficient * sum over the rows of the gradient of the loss at `point`.
    ///
    /// Rows are added one after the other in their order, so that cutting them into several calls
    /// changes no bit of the gradient: sparse rows anywhere, dense ones at multiples of the tile of
    /// 256 rows. One pass over the entries.
    /// @param point, gradient  parameters(rows.columns) elements
    /// @return sum over the rows of the loss at `point` (not weighted with the coefficient)
    virtual double add_gradient(const RowView& rows, std::span<const double> point,
                                double coefficient, std::span<double> gradient) const = 0;

    /// One score a row; what a score means belongs to the model (logistic: x . w).
    virtual void score(const RowView& rows, std::span<const double> point,
                       std::span<double> scores) const = 0;

    /// Sum over the rows of the loss, from their scores. Any number of rows.
    virtual double loss(std::span<const double> scores, std::span<const double> labels) const = 0;

    /// All that is known of rows with these scores. O(rows log rows).
    virtual Quality quality(std::span<const double> scores,
                            std::span<const double> labels) const = 0;
};

using MakeModel = std::unique_ptr<Model> (*)(const Settings&);

/// The models that --model can name.
const std::vector<Entry<MakeModel>>& models();

}  // namespace quorate
