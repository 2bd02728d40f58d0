// SPDX-License-Identifier: BSD-2-Clause
// What the readers of file formats fill: rows as they stand in the file, with their labels.
#pragma once

#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/spool.hpp"

namespace quorate {

/// The values of one categorical column, numbered in the order in which they appear.
class Levels {
public:
    /// The number of a value, new or not.
    double number(const std::string& text);
    /// Of a value that is told by its number: 3 and 3.0 are one.
    double number(double value);
    const std::vector<std::string>& names() const { return names_; }

private:
    std::unordered_map<std::string, std::size_t> by_text_;
    std::unordered_map<double, std::size_t> by_value_;
    std::vector<std::string> names_;
};

class RawTable {
public:
    /// @param beside  a file in whose folder there is room for the rows
    explicit RawTable(const std::string& beside) : spool_(beside) {}

    /// A column that has a name: what a cell holds is its number, or that of its level.
    struct Column {
        std::string name;
        bool categorical = false;
        Levels levels = {};
    };
    std::vector<Column> column;  // none: columns are numbered only
    std::int64_t columns = 0;    // how many
    bool dense = false;          // the format's rows are dense by nature
    std::string image;           // CxHxW, if rows are
    std::vector<double> label;   // of each row; NaN if the file has none

    /// The number of columns of a file, which all files of a table share.
    /// @throws BadInput if rows of another number are there
    void set_columns(std::int64_t count, const std::string& path);
    /// @return false, and does nothing, if no more rows are wanted
    bool add(double label, const RawRow& row);
    std::int64_t rows() const { return spool_.rows(); }
    /// As many rows are taken from now on, those that are there included.
    void take_up_to(std::int64_t rows) { most_ = rows; }
    /// Stored numbers that are not zero.
    std::int64_t entries() const { return entries_; }
    /// Whether all of them are one.
    bool ones() const { return ones_; }
    RawRow row(std::int64_t i) { return spool_.row(i); }

private:
    Spool spool_;
    std::int64_t most_ = std::numeric_limits<std::int64_t>::max(), entries_ = 0;
    bool ones_ = true;
};

}  // namespace quorate
