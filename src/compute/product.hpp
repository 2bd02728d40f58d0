// SPDX-License-Identifier: BSD-2-Clause
// Products of coded rows with vectors, chunk by chunk: what coded elastic computing asks of workers.
#pragma once

#include "compute/part_sum.hpp"

namespace quorate {

/// Rows of coded blocks times a point, their transpose times a vector of the coordinator's, or coded
/// columns times such a vector.
class Product final : public Work {
public:
    /// @param at   of the task's points, and behind them its operands
    /// @param out  products: an element for each row and output, item after item; transposed: their sum
    Product(const Computing& computing, const HeldRows& held, const Part& part, std::vector<At> at,
            std::span<double> out);

    bool done() const override { return item_ == part_.items.size(); }
    std::int64_t step() override;
    std::int64_t ahead() const override { return 0; }

private:
    const Computing& computing_;
    HeldRows held_;
    const Part& part_;
    std::vector<At> at_;
    std::span<double> out_;
    std::size_t item_ = 0;
    std::int64_t row_ = 0;   // of the item
    std::size_t used_ = 0;   // of an operand that several items share, or of `out`
    double load_ = 0;        // of the rows done, in rows of gradients
    std::int64_t told_ = 0;  // of that, whole rows that step() has returned
};

/// Whether a contribution has elements for rows or columns of the product, and not for parameters.
inline bool gives_rows(Item::Operation operation)
{
    return operation == Item::Operation::product || operation == Item::Operation::column_product;
}

/// Elements of a contribution.
/// @param support  parameters that the worker's rows touch
inline std::size_t length_of(const Part& part, std::size_t support, std::int64_t outputs)
{
    if (part.items.empty() || !gives_rows(part.items[0].operation)) return support;
    std::int64_t rows = 0;
    for (const auto& item : part.items) rows += item.rows.count;
    return static_cast<std::size_t>(rows * outputs);
}

}  // namespace quorate
