// SPDX-License-Identifier: BSD-2-Clause
// The table that readers of file formats fill: rows as they stand in the file, with their labels.
#pragma once

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tables/spool.hpp"

namespace quorate {

/// Stands where a file gives no number, and a row no label.
inline constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

/// The values of one categorical column, numbered in the order in which they appear.
class Levels {
public:
    /// Returns the number of a value, which is added if it is new.
    double number(const std::string& text);
    /// Likewise for values that are compared as numbers: 3 and 3.0 are the same. A column uses
    /// either this or the other function, but for the level of missing values.
    double number(double value);
    /// The values by number, as text.
    const std::vector<std::string>& names() const { return names_; }

private:
    std::unordered_map<std::string, std::size_t> by_text_;
    std::unordered_map<double, std::size_t> by_value_;
    std::vector<std::string> names_;
};

/// Labels as a file of them or an array has them: all are numbers, or all are words.
struct GivenLabels {
    std::vector<double> numbers;
    std::vector<std::string> words;
    std::size_t size() const { return numbers.size() + words.size(); }
};

/// Rows as they stand in a file, with their labels. The rows are on disk (Spool). Local.
class RawTable {
public:
    /// @param beside  a file in whose folder there is room for the rows
    /// @throws Failure if no file can be made there
    explicit RawTable(const std::string& beside) : spool_(beside) {}

    /// A column with a name. A cell of it holds a number, NaN if that is missing; if it is
    /// categorical, that of its level.
    struct Column {
        std::string name;
        bool categorical = false;
        Levels levels = {};
    };
    std::vector<Column> column;  // empty: columns have no names
    std::int64_t columns = 0;    // how many
    std::int64_t index_end = 0;  // of LIBSVM text: what follows its largest index
    bool dense = false;          // whether the format's rows are dense by nature
    std::string image;           // CxHxW if rows are images
    std::vector<double> label;   // of each row; NaN if the file has none
    Levels label_words;          // if there are some, labels are the numbers of such words

    /// Says what the labels of a file are, words or numbers.
    /// @param path  of the file, for the message
    /// @throws BadInput if those of another file are the other
    void set_label_kind(bool words, const std::string& path);
    /// Forgets that, and all words: other labels are to come.
    void forget_label_kind()
    {
        words_.reset();
        label_words = {};
    }
    /// Sets the number of columns, which all files of a table share.
    /// @param path  of the file with so many columns, for the message
    /// @throws BadInput if there are rows with another number of columns
    void set_columns(std::int64_t count, const std::string& path);
    /// Says what the columns of all rows are counted from, also of those that were added before.
    void set_first_column(std::int64_t first) { first_column_ = first; }
    std::int64_t first_column() const { return first_column_; }
    /// Gives sparse rows so many columns: what they have behind these is left out of row().
    void cut_to(std::int64_t count)
    {
        columns = count;
        cuts_ = true;
    }
    /// The columns that row() has left out, as the file numbers them.
    const std::set<std::int64_t>& columns_left_out() const { return columns_left_out_; }
    /// Adds a row, unless no more rows are wanted. @return whether it was added
    /// @throws Failure if the disk is full
    bool add(double label, const RawRow& row);
    std::int64_t rows() const { return spool_.rows(); }
    /// Says that the row that was added last is incomplete and is not to be used.
    void leave_out_last() { left_out_.push_back(rows() - 1); }
    /// The numbers of such rows, ascending.
    const std::vector<std::int64_t>& left_out() const { return left_out_; }
    /// Limits the number of rows that are added from now on, of each split of a file.
    void take_up_to(std::int64_t rows)
    {
        limit_ = rows;
        most_ = this->rows() + rows;
    }
    /// Says that what is added from now on are test rows, in the file of the training rows.
    void begin_test()
    {
        test_begin_ = rows();
        if (limit_ > 0) take_up_to(limit_);
    }
    /// The number of the first of these rows, if there are any.
    std::optional<std::int64_t> test_begin() const { return test_begin_; }
    /// Numbers of all rows that are not zero.
    std::int64_t entries() const { return entries_; }
    /// Whether all of these are one.
    bool ones() const { return ones_; }
    /// Row i, columns from 0; valid until the next call. @throws Failure if it cannot be read
    RawRow row(std::int64_t i);

private:
    Spool spool_;
    std::int64_t most_ = std::numeric_limits<std::int64_t>::max(), entries_ = 0;
    bool ones_ = true;
    std::int64_t first_column_ = 0;
    bool cuts_ = false;
    std::set<std::int64_t> columns_left_out_;
    std::vector<std::int64_t> counted_from_zero_;  // the columns of a row
    std::int64_t limit_ = 0;                       // 0: none
    std::vector<std::int64_t> left_out_;
    std::optional<std::int64_t> test_begin_;
    std::optional<bool> words_;  // whether labels are words, if some file has said so
};

}  // namespace quorate
