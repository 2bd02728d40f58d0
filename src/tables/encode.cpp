// SPDX-License-Identifier: BSD-2-Clause
#include "tables/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "tables/column_names.hpp"
#include "tables/feature_names.hpp"
#include "tables/missing.hpp"

namespace quorate {

namespace {

// Returns the power of two that a number is to be multiplied with for its square to be near 1. No
// bit of a sum of such products, or of their squares, differs from that of the numbers themselves,
// unless theirs overflows or underflows.
double unit_of(double largest)
{
    constexpr int most = 1000;  // the unit of the smallest numbers would be infinite
    return largest > 0 ? std::ldexp(1, std::clamp(-std::ilogb(largest), -most, most)) : 1;
}

// Divides numbers by the root of the sum of their squares, unless all are zero.
// @param number  gives that of an entry
template <class Entries, class Number>
void make_unit(Entries& entries, Number number)
{
    double largest = 0, square = 0;
    for (const auto& one : entries) largest = std::max(largest, std::abs(std::invoke(number, one)));
    if (largest == 0) return;
    const auto unit = unit_of(largest);
    for (const auto& one : entries) {
        const auto scaled = std::invoke(number, one) * unit;
        square += scaled * scaled;
    }
    for (auto& one : entries) {
        double& value = std::invoke(number, one);
        value = value * unit / std::sqrt(square);
    }
}

}  // namespace

std::vector<Option> RowEncoder::options()
{
    return {{"divide", "D", "1", "numbers are divided by it"},
            {"scale", "none|standardise|min-max|unit-rows", "none",
             "numbers: to mean 0 and variance 1, or into [0, 1], by column, as the training rows "
             "have them; or rows to norm 1"},
            {"intercept", "", "", "a last column of ones"}};
}

RowEncoder::RowEncoder(RawTable& table, const Settings& settings,
                       const std::vector<std::int64_t>& rows,
                       const std::vector<std::int64_t>& train, const Scaling& scaling)
    // The range in which 1 / D has all its digits.
    : table_(table), divisor_(settings.real("divide", std::numeric_limits<double>::min(),
                                            1 / std::numeric_limits<double>::min())),
      intercept_(settings.on("intercept"))
{
    const auto& scale = settings.one_of("scale", {"none", "standardise", "min-max", "unit-rows"});
    scale_ = scale == "standardise" ? Scale::standardise
             : scale == "min-max"   ? Scale::min_max
             : scale == "unit-rows" ? Scale::unit_rows
                                    : Scale::none;
    // The average is taken over all rows of the table, as if those that are dropped were like the
    // others.
    const auto count = static_cast<double>(std::max<std::int64_t>(1, table.rows()));
    if (table.column.empty()) {
        columns_ = table.columns;
        entries_per_row_ = static_cast<double>(table.entries()) / count;
    }
    for (const auto& column : table.column) add_column(column);
    const auto categories = std::ranges::count_if(table.column, &RawTable::Column::categorical);
    const bool numbers = table.column.empty() || categories < std::ssize(table.column);
    ones_ = scale_ == Scale::none && (!numbers || (categories == 0 && table.ones())) &&
            (divisor_ == 1 || !numbers);
    if (!table.column.empty() && settings.integer("interactions", 1, 2) == 2) {
        if (categories < 2)
            settings.refuse("interactions", fmt::format(", but {} columns are categorical: name "
                                                        "some in --categorical",
                                                        categories));
        add_pairs(settings, rows);
        entries_per_row_ += static_cast<double>(pairs_.size());
    }
    set_scaling(scaling, settings.has("missing") && Missing(settings).mean(), train);
    fills_zeros_ = table.column.empty() && !table.dense &&
                   std::ranges::any_of(scaling_.shift, [](double shift) { return shift != 0; });
    if (intercept_) {
        if (std::ranges::find(features_, intercept_name) != features_.end())
            settings.refuse("intercept",
                            ", but the input has a column of that name: give --drop intercept, or "
                            "leave --intercept out");
        if (!features_.empty()) features_.push_back(intercept_name);
        ++columns_;
        ++entries_per_row_;
    }
}

void RowEncoder::add_column(const RawTable::Column& column)
{
    first_.push_back(columns_);
    if (column.categorical) {
        for (const auto& level : column.levels.names())
            features_.push_back(feature_name(column.name, level));
        columns_ += static_cast<std::int64_t>(column.levels.names().size());
    } else {
        features_.push_back(feature_name(column.name));
        ++columns_;
    }
    ++entries_per_row_;
}

// Takes the given scaling, and fits the training rows for what it does not hold.
void RowEncoder::set_scaling(const Scaling& given, bool replaces_missing,
                             const std::vector<std::int64_t>& train)
{
    const auto raw_columns = static_cast<std::size_t>(table_.columns);
    scaling_.factor.assign(raw_columns, 1 / divisor_);
    scaling_.shift.assign(raw_columns, 0);
    for (const auto* one : {&given.factor, &given.mean})
        if (!one->empty() && one->size() != raw_columns)
            throw BadInput(
                fmt::format("the input has {} columns, the data set that it is to be like "
                            "was made of {}: give files of one form",
                            raw_columns, one->size()));
    if (!given.mean.empty())
        scaling_.mean = given.mean;
    else if (replaces_missing)
        fit_means(train);
    if (!given.factor.empty()) {
        scaling_.factor = given.factor;
        scaling_.shift = given.shift;
    } else if (scale_ == Scale::standardise || scale_ == Scale::min_max) {
        fit(train);
    }
}

std::int64_t RowEncoder::key(const Pair& pair, const RawRow& row)
{
    return (static_cast<std::int64_t>(row.values[pair.a]) << 32) |
           static_cast<std::int64_t>(row.values[pair.b]);
}

// Numbers the pairs of levels that rows have. The key of a pair is made of both level numbers, so
// that no two pairs collide.
void RowEncoder::add_pairs(const Settings& settings, const std::vector<std::int64_t>& rows)
{
    const auto& column = table_.column;
    const auto excluded = pairs_listed(quorate::names(column), settings, "exclude-pairs");
    for (std::size_t a = 0; a < column.size(); ++a)
        for (std::size_t b = a + 1; b < column.size(); ++b)
            if (column[a].categorical && column[b].categorical && !excluded.contains({a, b}))
                pairs_.push_back({a, b, 0});
    std::vector<std::vector<std::string>> names(pairs_.size());
    for (const auto i : rows) {
        const auto row = table_.row(i);
        for (std::size_t p = 0; p < pairs_.size(); ++p) {
            auto& pair = pairs_[p];
            const auto next = static_cast<std::int64_t>(pair.number.size());
            if (!pair.number.try_emplace(key(pair, row), next).second) continue;
            const auto level = [&](std::size_t at) {
                return column[at].levels.names()[static_cast<std::size_t>(row.values[at])];
            };
            names[p].push_back(feature_name(column[pair.a].name, column[pair.b].name, level(pair.a),
                                            level(pair.b)));
        }
    }
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
        pairs_[p].first = columns_;
        columns_ += std::ssize(names[p]);
        std::ranges::move(names[p], std::back_inserter(features_));
    }
}

std::string RowEncoder::name_of(std::size_t column) const
{
    return table_.column.empty() ? std::to_string(column + 1) : table_.column[column].name;
}

double RowEncoder::scaled(std::size_t column, double value) const
{
    const auto number = filled(column, value) * scaling_.factor[column];
    if (number == 0 && value != 0 && !std::isnan(value) && !scales())
        throw BadInput(fmt::format("column {}: {:g} becomes zero over --divide {:g}: use less",
                                   name_of(column), value, divisor_));
    return number + scaling_.shift[column];
}

// Calls f(column, value) for each number of the training rows as the file has it, NaN if it is
// missing.
template <class F>
void RowEncoder::for_numbers(const std::vector<std::int64_t>& train, F f)
{
    for (const auto i : train) {
        const auto row = table_.row(i);
        for (std::size_t k = 0; k < row.values.size(); ++k) {
            const auto column = row.columns.empty() ? k : static_cast<std::size_t>(row.columns[k]);
            f(column, row.values[k]);
        }
    }
}

// Returns for each column the unit of its largest number.
std::vector<double> RowEncoder::units(const std::vector<std::int64_t>& train)
{
    std::vector<double> units(scaling_.factor.size());
    for_numbers(train, [&](std::size_t column, double value) {
        if (!std::isnan(value)) units[column] = std::max(units[column], std::abs(value));
    });
    for (auto& unit : units) unit = unit_of(unit);
    return units;
}

// Looks at the numbers of the training rows, times the unit of their column.
std::vector<RowEncoder::Seen> RowEncoder::look_at(const std::vector<std::int64_t>& train,
                                                  const std::vector<double>& unit)
{
    std::vector<Seen> seen(unit.size());
    for_numbers(train, [&](std::size_t column, double number) {
        const auto value = filled(column, number) * unit[column];
        if (std::isnan(value)) return;
        auto& one = seen[column];
        if (one.count++ == 0) one.first = one.least = one.most = value;
        const double rest = value - one.first;
        one.sum += rest;
        one.squares += rest * rest;
        one.least = std::min(one.least, value);
        one.most = std::max(one.most, value);
    });
    return seen;
}

void RowEncoder::fit_means(const std::vector<std::int64_t>& train)
{
    // Sparse files have no missing numbers.
    if (!train.empty() && !table_.row(train[0]).columns.empty()) return;
    const auto unit = units(train);
    const auto seen = look_at(train, unit);
    scaling_.mean.resize(seen.size());
    for (std::size_t column = 0; column < seen.size(); ++column) {
        if (categorical(column)) continue;
        const auto& one = seen[column];
        if (one.count == 0)
            throw BadInput(
                fmt::format("column {} has no number in the training rows, of which --missing mean "
                            "could take the mean: leave it out{}",
                            name_of(column), table_.column.empty() ? "" : " with --drop"));
        scaling_.mean[column] =
            (one.first + one.sum / static_cast<double>(one.count)) / unit[column];
    }
}

void RowEncoder::fit(const std::vector<std::int64_t>& train)
{
    const auto unit = units(train);
    const auto seen = look_at(train, unit);
    const auto rows = static_cast<double>(train.size());
    for (std::size_t column = 0; column < seen.size(); ++column) {
        auto one = seen[column];
        if (categorical(column)) continue;
        if (static_cast<double>(one.count) < rows) {  // the others are zeros
            const double zeros = rows - static_cast<double>(one.count);
            one.sum -= zeros * one.first;
            one.squares += zeros * one.first * one.first;
            one.least = std::min(one.least, 0.0);
            one.most = std::max(one.most, 0.0);
        }
        const double mean = one.sum / rows;  // less the first value
        const double variance = std::max(0.0, one.squares / rows - mean * mean);
        const bool standardises = scale_ == Scale::standardise;
        const double width = standardises ? std::sqrt(variance) : one.most - one.least;
        const double origin = standardises ? one.first + mean : one.least;
        // A constant column becomes zero.
        scaling_.factor[column] = width > 0 ? unit[column] * (1 / width) : 0;
        scaling_.shift[column] = width > 0 ? -origin * (1 / width) : 0;
        if (!std::isfinite(scaling_.factor[column]))
            throw BadInput(fmt::format(
                "column {}: its numbers differ by {:g} only, too little for --scale: leave it out",
                name_of(column), width / unit[column]));
    }
}

// Calls f(column, value) for each entry, zeros among them, but for the intercept.
template <class F>
void RowEncoder::for_entries(const RawRow& row, F f) const
{
    if (table_.column.empty()) {
        for (std::size_t k = 0; k < row.values.size(); ++k) {
            const auto column = row.columns.empty() ? static_cast<std::int64_t>(k) : row.columns[k];
            f(column, scaled(static_cast<std::size_t>(column), row.values[k]));
        }
        return;
    }
    for (std::size_t k = 0; k < row.values.size(); ++k)
        if (table_.column[k].categorical)
            f(first_[k] + static_cast<std::int64_t>(row.values[k]), 1.0);
        else
            f(first_[k], scaled(k, row.values[k]));
    for (const auto& pair : pairs_) f(pair.first + pair.number.at(key(pair, row)), 1.0);
}

const std::vector<std::pair<std::int64_t, double>>& RowEncoder::sparse(const RawRow& row)
{
    entries_.clear();
    for_entries(row, [&](std::int64_t column, double value) {
        if (value != 0) entries_.emplace_back(column, value);
    });
    if (scale_ == Scale::unit_rows) make_unit(entries_, &std::pair<std::int64_t, double>::second);
    if (intercept_) entries_.emplace_back(columns_ - 1, 1.0);
    return entries_;
}

const std::vector<double>& RowEncoder::dense(const RawRow& row)
{
    values_.assign(static_cast<std::size_t>(columns_), 0.0);
    if (fills_zeros_) std::copy(scaling_.shift.begin(), scaling_.shift.end(), values_.begin());
    for_entries(row, [&](std::int64_t column, double value) {
        values_[static_cast<std::size_t>(column)] = value;
    });
    if (scale_ == Scale::unit_rows) make_unit(values_, std::identity());
    if (intercept_) values_.back() = 1;
    return values_;
}

}  // namespace quorate
