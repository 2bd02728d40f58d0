// SPDX-License-Identifier: BSD-2-Clause
#include "compute/product.hpp"

#include <algorithm>

#include "model/linear.hpp"

namespace quorate {

Product::Product(const Computing& computing, const StoredRows& stored, const Part& part,
                 std::vector<At> at, std::span<double> out)
    : computing_(computing), stored_(stored), part_(part), at_(std::move(at)), out_(out)
{
    std::ranges::fill(out_, 0.0);
}

std::int64_t Product::step()
{
    if (done()) return 0;
    const petsc::Logged logged(petsc::Work::product);
    const auto& item = part_.items[item_];
    const auto outputs = computing_.model.outputs();
    const auto [all, load] = stored_.factor(item.operation);
    // chunk_rows is meant for gradients of rows of the data set. Coded rows may be longer, so a
    // chunk of them has fewer rows.
    const auto chunk = static_cast<std::int64_t>(static_cast<double>(computing_.chunk_rows) /
                                                 std::max(1.0, 2 * load));
    const auto count =
        std::min(computing_.threads * std::max<std::int64_t>(1, chunk), item.rows.count - row_);
    const auto rows = all.slice(item.rows.first + row_, count);
    const std::span<const double> vector = at_[static_cast<std::size_t>(item.input)].point;
    const auto elements = static_cast<std::size_t>(count * outputs);
    if (gives_rows(item.operation))
        linear::product(rows, vector.data(), outputs, out_.data() + used_);
    else
        linear::add_transpose_product(rows, vector.data() + used_, outputs, out_.data());
    used_ += elements;
    row_ += count;
    samples_ += count;
    load_ += static_cast<double>(count) * load;
    if (row_ == item.rows.count) {
        row_ = 0;
        ++item_;
    }
    const auto before = told_;
    told_ = std::max<std::int64_t>(told_, static_cast<std::int64_t>(load_));
    return told_ - before;
}

}  // namespace quorate
