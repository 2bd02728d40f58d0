// SPDX-License-Identifier: BSD-2-Clause
#include "tables/dense_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/index.hpp"

namespace quorate {

DenseRows::DenseRows(const Settings& settings, const std::string& path, std::string array,
                     const std::vector<std::int64_t>& shape, RawTable& table)
    : array_(std::move(array)), table_(table), missing_(settings), missing_values_(settings),
      may_lack_labels_(settings.has("like") && settings.on("like"))
{
    if (shape.size() < 2 || shape.size() > 4)
        refuse(
            fmt::format("has the shape ({}): give rows x columns, as X.reshape(-1, 1) for "
                        "one column, or images as rows x (channels x) height x width",
                        fmt::join(shape, ", ")));
    rows_ = shape[0];
    width_ = std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies());
    if (rows_ < 1 || width_ < 1 || width_ > std::numeric_limits<Index>::max())
        refuse(fmt::format("has the shape ({}): it holds nothing, or more than can be counted",
                           fmt::join(shape, ", ")));
    table_.set_columns(width_, path);
    table_.dense = true;
    if (shape.size() == 3) table_.image = fmt::format("1x{}x{}", shape[1], shape[2]);
    if (shape.size() == 4) table_.image = fmt::format("{}x{}x{}", shape[1], shape[2], shape[3]);
}

std::span<const double> DenseRows::with_nan(std::span<const double> row)
{
    const auto named = [&](double number) { return missing_values_.find(number).has_value(); };
    if (missing_values_.texts().empty() || std::ranges::none_of(row, named)) return row;
    copy_.assign(row.begin(), row.end());
    std::ranges::replace_if(copy_, named, std::numeric_limits<double>::quiet_NaN());
    return copy_;
}

bool DenseRows::add(std::optional<double> label, std::span<const double> given)
{
    const auto row = with_nan(given);
    bool incomplete = false;
    for (std::size_t c = 0; c < row.size(); ++c) {
        if (std::isfinite(row[c])) continue;
        if (!std::isnan(row[c]) || (!missing_.mean() && !missing_.drop()))
            refuse(
                fmt::format("holds {} in row {}, column {}, both from 0: {}", given[c], next_, c,
                            std::isnan(row[c]) ? missing_.remedy("mean") : "give finite numbers"));
        incomplete |= !missing_.mean();
    }
    if (label && std::isnan(*label) && !may_lack_labels_) {
        if (!missing_.drop())
            refuse(fmt::format("has NaN for a label in row {} from 0: {}", next_,
                               missing_.remedy("")));
        incomplete = true;
    }
    ++next_;
    if (!table_.add(label.value_or(std::numeric_limits<double>::quiet_NaN()), {{}, row}))
        return false;
    if (incomplete) table_.leave_out_last();
    return true;
}

void DenseRows::refuse(const std::string& wrong) const { throw BadInput(array_ + " " + wrong); }

void check_label_shape(const std::string& array, const std::vector<std::int64_t>& shape)
{
    if (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1)) return;
    throw BadInput(fmt::format(
        "{} has the shape ({}): labels are one number or word a row, as y.reshape(-1) for "
        "one row of them; of one-hot rows give y.argmax(axis=1)",
        array, fmt::join(shape, ", ")));
}

}  // namespace quorate
