// SPDX-License-Identifier: BSD-2-Clause
#include "tables/raw_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace quorate {

double Levels::number(const std::string& text)
{
    const auto [at, is_new] = by_text_.try_emplace(text, names_.size());
    if (is_new) names_.push_back(text);
    return static_cast<double>(at->second);
}

double Levels::number(double value)
{
    constexpr double exact = 1LL << 53;  // below it each whole number has a double of its own
    if (std::abs(value) >= exact)
        throw BadInput(fmt::format(
            "category {:.0f} has more digits than a number tells apart: give --categorical-by text",
            value));
    const auto [at, is_new] = by_value_.try_emplace(value, names_.size());
    if (is_new) names_.push_back(fmt::format("{}", value));
    return static_cast<double>(at->second);
}

void RawTable::set_label_kind(bool words, const std::string& path)
{
    if (words_.value_or(words) != words)
        throw BadInput(
            fmt::format("the labels of {} are {}, those of the training rows {}: write "
                        "all of them alike",
                        path, words ? "words" : "numbers", words ? "numbers" : "words"));
    words_ = words;
}

void RawTable::set_columns(std::int64_t count, const std::string& path)
{
    if (rows() > 0 && columns != count)
        throw BadInput(
            fmt::format("{} has {} columns, the training file {}: give files of one form", path,
                        count, columns));
    columns = count;
}

bool RawTable::add(double its_label, const RawRow& row)
{
    if (rows() == most_) return false;
    std::int64_t entries = 0;
    bool others = false;
    for (const double value : row.values) {
        entries += value != 0;
        others |= value != 0 && value != 1;
    }
    entries_ += entries;
    ones_ = ones_ && !others;
    label.push_back(its_label);
    spool_.add(row);
    return true;
}

RawRow RawTable::row(std::int64_t i)
{
    auto row = spool_.row(i);
    if (cuts_) {  // columns ascend
        const auto end = std::ranges::lower_bound(row.columns, columns + first_column_);
        columns_left_out_.insert(end, row.columns.end());
        const auto kept = static_cast<std::size_t>(end - row.columns.begin());
        row = {row.columns.first(kept),
               row.values.first(row.columns.empty() ? row.values.size() : kept)};
    }
    if (first_column_ == 0) return row;
    counted_from_zero_.assign(row.columns.begin(), row.columns.end());
    for (auto& number : counted_from_zero_) number -= first_column_;
    row.columns = counted_from_zero_;
    return row;
}

}  // namespace quorate
