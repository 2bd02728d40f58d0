// SPDX-License-Identifier: BSD-2-Clause
// Generalised linear models: scores z = x'W, gradient X'R with R the derivatives of the loss.
#pragma once

#include "model/linear.hpp"
#include "model/model.hpp"

namespace quorate {

class LinearModel final : public Model {
public:
    using Model::Model;

    std::int64_t per_column() const override { return outputs(); }
    std::int64_t shared_parameters() const override { return 0; }
    bool linear() const override { return true; }
    std::vector<Layer> layers(std::int64_t columns) const override
    {
        return {{columns * outputs(), columns, outputs(), 0}};
    }

    double add_gradient(const RowView& rows, std::span<const double> point, double coefficient,
                        std::span<double> gradient) const override
    {
        const auto width = outputs();
        const auto tile = std::min(rows.rows, linear::tile_rows(rows, width));
        std::vector<double> z(static_cast<std::size_t>(tile * width));
        auto r = z;
        double sum = 0;
        for (std::int64_t first = 0; first < rows.rows; first += tile) {
            const auto part = rows.slice(first, std::min(tile, rows.rows - first));
            linear::product(part, point.data(), width, z.data());
            sum += loss().evaluate(z.data(), part.label, part.rows, r.data());
            if (coefficient != 1)
                for (auto& weight : r) weight *= coefficient;
            linear::add_transpose_product(part, r.data(), width, gradient.data());
        }
        return sum;
    }

    void score(const RowView& rows, std::span<const double> point,
               std::span<double> scores) const override
    {
        linear::product(rows, point.data(), outputs(), scores.data());
    }

    std::int64_t chunk_rows(const DataShape& data) const override
    {
        return linear::chunk_rows(data.entries_per_row, outputs());
    }
};

}  // namespace quorate
