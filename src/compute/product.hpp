// SPDX-License-Identifier: BSD-2-Clause
// Computes products of coded rows with vectors, chunk by chunk, for coded elastic computing.
#pragma once

#include <span>
#include <vector>

#include "compute/fold.hpp"

namespace quorate {

/// Computes a part of products: rows of a coded block times a point, their transpose times an
/// operand, or coded columns times an operand. For linear models. One pass over the rows.
class Product final : public Work {
public:
    /// @param at   for each input of the task, and behind them its operands
    /// @param out  receives an element for each row and output, item after item; of transposes,
    ///             their sum at the parameters that the worker's rows touch
    Product(const Computing& computing, const StoredRows& stored, const Part& part,
            std::vector<At> at, std::span<double> out);

    bool done() const override { return item_ == part_.items.size(); }
    std::int64_t step() override;
    std::int64_t ahead() const override { return 0; }

private:
    const Computing& computing_;
    StoredRows stored_;
    const Part& part_;
    std::vector<At> at_;
    std::span<double> out_;
    std::size_t item_ = 0;
    std::int64_t row_ = 0;   // of the item, rows that are done
    std::size_t used_ = 0;   // elements used of `out`, or of the operand that the items share
    double load_ = 0;        // cost of the rows that are done, in rows of gradients
    std::int64_t told_ = 0;  // how much of that step() has returned
};

/// Whether a contribution has elements for the rows or columns of a product, and not for
/// parameters.
inline bool gives_rows(Item::Operation operation)
{
    return operation == Item::Operation::product || operation == Item::Operation::column_product;
}

/// Returns the number of elements of a contribution.
/// @param support     parameters that the worker's rows touch
/// @param parameters  of the model
inline std::size_t length_of(const Part& part, std::size_t support, std::size_t parameters,
                             std::int64_t outputs)
{
    if (part.held) return 0;
    if (!part.fold.empty()) return folded_length(parameters, pieces_of(part));
    if (part.items.empty() || !gives_rows(part.items[0].operation)) return support;
    std::int64_t rows = 0;
    for (const auto& item : part.items) rows += item.rows.count;
    return static_cast<std::size_t>(rows * outputs);
}

}  // namespace quorate
