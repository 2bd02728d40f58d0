// SPDX-License-Identifier: BSD-2-Clause
// From rows as they stand in a file to rows of a data set: numbers scaled, categories as one column
// for each value, pairs of categorical columns as one column for each pair of values, an intercept.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "data/raw_table.hpp"

namespace quorate {

/// What numbers are multiplied with, and what is then added: of each column of the file.
struct Scaling {
    std::vector<double> factor, shift;
};

/// Columns are numbered by feature (columns in their order, then pairs in theirs, then the intercept),
/// and inside a feature by the first row in which a value appears.
class RowEncoder {
public:
    /// What it reads beside the options of the CSV format.
    static std::vector<Option> options();

    /// Looks at all rows once if there are pairs, and at the training rows if numbers are scaled.
    /// @param rows   those that are kept, in the order of the file
    /// @param train  those that scaling is fitted on
    /// @param scaling  in place of one that is fitted; none if its factors are
    /// @throws BadInput for options that do not fit the table
    RowEncoder(RawTable& table, const Settings& settings, const std::vector<std::int64_t>& rows,
               const std::vector<std::int64_t>& train, const Scaling& scaling = {});

    std::int64_t columns() const { return columns_; }
    /// Names of the columns; none if the file has none.
    const std::vector<std::string>& features() const { return features_; }
    const Scaling& scaling() const { return scaling_; }
    bool scales() const { return scale_ == Scale::standardise || scale_ == Scale::min_max; }
    /// Entries of a row, on average.
    double entries_per_row() const { return entries_per_row_; }
    /// Whether all entries are one.
    bool ones() const { return ones_; }
    /// Whether a row has a number where its file has none: then it must be stored dense.
    bool fills_zeros() const { return fills_zeros_; }

    /// Entries of a row by column, ascending, without zeros; valid until the next call.
    const std::vector<std::pair<std::int64_t, double>>& sparse(const RawRow& row);
    /// All columns of a row; likewise.
    const std::vector<double>& dense(const RawRow& row);

private:
    enum class Scale { none, standardise, min_max, unit_rows };
    struct Pair {
        std::size_t a, b;  // columns of the table
        std::int64_t first;
        std::unordered_map<std::int64_t, std::int64_t> number = {};  // of a pair of levels
    };
    static std::int64_t key(const Pair& pair, const RawRow& row);
    void add_pairs(const Settings& settings, const std::vector<std::int64_t>& rows);
    void fit(const std::vector<std::int64_t>& train);
    double scaled(std::size_t column, double value) const
    {
        return value * scaling_.factor[column] + scaling_.shift[column];
    }
    template <class F>
    void for_entries(const RawRow& row, F f) const;

    RawTable& table_;
    Scale scale_;
    double divisor_;
    bool intercept_, ones_, fills_zeros_ = false;
    std::int64_t columns_ = 0;
    double entries_per_row_ = 0;
    std::vector<std::string> features_;
    std::vector<std::int64_t> first_;  // of each column of a table with names
    Scaling scaling_;
    std::vector<Pair> pairs_;
    std::vector<std::pair<std::int64_t, double>> entries_;
    std::vector<double> values_;
};

}  // namespace quorate
