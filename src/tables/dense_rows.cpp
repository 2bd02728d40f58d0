// SPDX-License-Identifier: BSD-2-Clause
#include "tables/dense_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <span>

#include "base/error.hpp"
#include "base/index.hpp"
#include "tables/formats.hpp"

namespace quorate {

DenseRows::DenseRows(const Settings& settings, const std::string& path, std::string array,
                     const std::vector<std::int64_t>& shape, RawTable& table)
    : path_(path), array_(std::move(array)), table_(table), missing_(settings),
      may_lack_labels_(is_like(settings))
{
    if (shape.size() < 2 || shape.size() > 4)
        refuse(
            fmt::format("has the shape ({}): give rows x columns, of NumPy X.reshape(-1, "
                        "1) for one column, or images as rows x (channels x) height x width; "
                        "labels alone belong to --labels",
                        fmt::join(shape, ", ")));
    rows_ = shape[0];
    width_ = 1;
    bool fits = true;
    for (const auto size : std::span(shape).subspan(1))
        fits &= !__builtin_mul_overflow(width_, size, &width_);
    if (!fits || rows_ < 1 || width_ < 1 || width_ > std::numeric_limits<Index>::max())
        refuse(fmt::format("has the shape ({}): it holds nothing, or more than can be counted",
                           fmt::join(shape, ", ")));
    table_.set_columns(width_, path);
    table_.dense = true;
    if (shape.size() == 3) table_.image = fmt::format("1x{}x{}", shape[1], shape[2]);
    if (shape.size() == 4) table_.image = fmt::format("{}x{}x{}", shape[1], shape[2], shape[3]);
}

void DenseRows::set_labels(const GivenLabels& given, const std::string& array)
{
    if (std::ssize(given.numbers) + std::ssize(given.words) != rows_)
        throw BadInput(fmt::format("{} has {} labels for {} rows: give one for each", array,
                                   given.size(), rows_));
    table_.set_label_kind(!given.words.empty(), path_);
    for (const double number : given.numbers)
        labels_.push_back(missing_.names({}, number) ? not_given : number);
    for (const auto& word : given.words)
        labels_.push_back(missing_.names(word) ? not_given : table_.label_words.number(word));
}

bool DenseRows::add(std::span<double> values)
{
    const auto width = static_cast<std::size_t>(width_);
    for (; !values.empty(); values = values.subspan(width))
        if (!add_row(values.first(width))) return false;
    return true;
}

bool DenseRows::add_row(std::span<double> row)
{
    bool incomplete = false;
    for (std::size_t c = 0; c < row.size(); ++c) {
        const auto given = row[c];
        if (missing_.names({}, given)) row[c] = not_given;
        if (std::isfinite(row[c])) continue;
        if (!std::isnan(row[c]) || (!missing_.mean() && !missing_.drop()))
            refuse(
                fmt::format("holds {} in row {}, column {}, both from 0: {}", given, next_, c,
                            std::isnan(row[c]) ? missing_.remedy("mean") : "give finite numbers"));
        incomplete |= !missing_.mean();
    }
    const auto label = labels_.empty() ? not_given : labels_[static_cast<std::size_t>(next_)];
    if (!labels_.empty() && std::isnan(label) && !may_lack_labels_) {
        if (!missing_.drop())
            refuse(fmt::format("has NaN for a label in row {} from 0: {}", next_,
                               missing_.remedy("")));
        incomplete = true;
    }
    ++next_;
    if (!table_.add(label, {{}, row})) return false;
    if (incomplete) table_.leave_out_last();
    return true;
}

void DenseRows::refuse(const std::string& wrong) const { throw BadInput(array_ + " " + wrong); }

std::vector<Option> array_options()
{
    std::vector<Option> all = {
        {"array", "NAME", "", "dense rows; of .npz X, x, X_train or x_train if it is left out"},
        label_option()};
    add_options(all, Missing::options());
    return all;
}

void check_label_shape(const std::string& array, const std::vector<std::int64_t>& shape)
{
    if (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1)) return;
    throw BadInput(fmt::format(
        "{} has the shape ({}): labels are one number or word a row, as y.reshape(-1) for "
        "one row of them; of one-hot rows give y.argmax(axis=1)",
        array, fmt::join(shape, ", ")));
}

}  // namespace quorate
