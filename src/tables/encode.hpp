// SPDX-License-Identifier: BSD-2-Clause
// Turns rows as they stand in a file into rows of a data set. It scales numbers, gives each value
// of a categorical column a column of its own, likewise each pair of values of two categorical
// columns, and adds an intercept.
#pragma once

#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "tables/raw_table.hpp"

namespace quorate {

/// How the numbers of a file are scaled: value * factor + shift, an element for each column of the
/// file; and what stands for missing ones, before that.
struct Scaling {
    std::vector<double> factor, shift;
    std::vector<double> mean;  // empty: no number is missing
};

/// Columns of the data set are numbered by feature (columns in their order, then pairs in theirs,
/// then the intercept), and inside a feature by the first row in which a value appears. Local.
class RowEncoder {
public:
    /// The options that it reads beside those of the CSV format.
    static std::vector<Option> options();

    /// Reads all kept rows once if there are pairs, and the training rows twice if numbers are
    /// scaled, and twice if means stand for missing ones. Numbers of any size are scaled to full
    /// precision: sums are of numbers over a power of two.
    /// @param table    must outlive this object
    /// @param rows     numbers of the rows that are kept, in the order of the file
    /// @param train    numbers of the rows that the scaling is fitted to
    /// @param scaling  its factors and shifts are used instead of fitted ones, unless they are
    ///                 empty; likewise its means
    /// @throws BadInput for options that do not fit the table
    RowEncoder(RawTable& table, const Settings& settings, const std::vector<std::int64_t>& rows,
               const std::vector<std::int64_t>& train, const Scaling& scaling = {});

    std::int64_t columns() const { return columns_; }
    /// Names of the columns; empty if the file has none.
    const std::vector<std::string>& features() const { return features_; }
    const Scaling& scaling() const { return scaling_; }
    /// Whether columns are scaled to a mean and variance, or into a range.
    bool scales() const { return scale_ == Scale::standardise || scale_ == Scale::min_max; }
    /// Entries of a row on average, estimated from all rows of the table.
    double entries_per_row() const { return entries_per_row_; }
    /// Whether all entries are surely one.
    bool ones() const { return ones_; }
    /// Whether scaling turns zeros of a sparse file into other numbers. Then rows must be stored
    /// dense.
    bool fills_zeros() const { return fills_zeros_; }

    /// Encodes a row as column and value, ascending by column, without zeros. Valid until the next
    /// call.
    const std::vector<std::pair<std::int64_t, double>>& sparse(const RawRow& row);
    /// Encodes a row as the values of all columns. Valid until the next call.
    const std::vector<double>& dense(const RawRow& row);

private:
    enum class Scale { none, standardise, min_max, unit_rows };
    struct Pair {
        std::size_t a, b;    // columns of the table
        std::int64_t first;  // its first column in the data set
        std::unordered_map<std::int64_t, std::int64_t> number = {};  // of pairs of levels, by key()
    };
    void add_column(const RawTable::Column& column);
    void set_scaling(const Scaling& given, bool replaces_missing,
                     const std::vector<std::int64_t>& train);
    static std::int64_t key(const Pair& pair, const RawRow& row);
    void add_pairs(const Settings& settings, const std::vector<std::int64_t>& rows);
    template <class F>
    void for_numbers(const std::vector<std::int64_t>& train, F f);
    std::vector<double> units(const std::vector<std::int64_t>& train);
    std::string name_of(std::size_t column) const;
    struct Seen {
        double sum = 0, squares = 0;  // of differences from the first value, for precision
        double first = 0, least = 0, most = 0;
        std::int64_t count = 0;
    };
    std::vector<Seen> look_at(const std::vector<std::int64_t>& train,
                              const std::vector<double>& unit);
    void fit_means(const std::vector<std::int64_t>& train);
    void fit(const std::vector<std::int64_t>& train);
    bool categorical(std::size_t column) const
    {
        return !table_.column.empty() && table_.column[column].categorical;
    }
    double filled(std::size_t column, double value) const
    {
        return std::isnan(value) && !scaling_.mean.empty() ? scaling_.mean[column] : value;
    }
    double scaled(std::size_t column, double value) const;
    template <class F>
    void for_entries(const RawRow& row, F f) const;

    RawTable& table_;
    Scale scale_;
    double divisor_;
    bool intercept_, ones_, fills_zeros_ = false;
    std::int64_t columns_ = 0;
    double entries_per_row_ = 0;
    std::vector<std::string> features_;
    std::vector<std::int64_t> first_;  // of each named column, its first column in the data set
    Scaling scaling_;
    std::vector<Pair> pairs_;
    std::vector<std::pair<std::int64_t, double>> entries_;
    std::vector<double> values_;
};

}  // namespace quorate
