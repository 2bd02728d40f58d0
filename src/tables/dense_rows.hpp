// SPDX-License-Identifier: BSD-2-Clause
// What dense arrays have in common, whatever container they are in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tables/missing.hpp"
#include "tables/raw_table.hpp"

namespace quorate {

/// Adds the rows of an array to a table. Local.
class DenseRows {
public:
    /// @param path   of the file  @param array  what messages call it: "FILE: array X"
    /// @param shape  what the first dimension counts are rows: of numbers, or images of (channels
    ///        x) height x width
    /// @throws BadInput if the shape is another, or not that of the rows that are there
    DenseRows(const Settings& settings, const std::string& path, std::string array,
              const std::vector<std::int64_t>& shape, RawTable& table);

    std::int64_t rows() const { return rows_; }
    /// Elements of a row.
    std::int64_t width() const { return width_; }
    /// Takes the labels of all rows, before rows are added; without it they have none.
    /// @param array  that holds them, as messages call it
    /// @throws BadInput if they are not as many as the rows, or of another kind than others
    void set_labels(const GivenLabels& given, const std::string& array);
    /// Adds the next rows, as many as there are values for. @return whether more are wanted
    /// @throws BadInput if a number is not finite or a label is missing, and --missing does not
    /// help
    bool add(std::span<double> values);

private:
    [[noreturn]] void refuse(const std::string& wrong) const;
    bool add_row(std::span<double> row);

    std::string path_, array_;
    RawTable& table_;
    Missing missing_;
    bool may_lack_labels_;
    std::vector<double> labels_;
    std::int64_t rows_, width_, next_ = 0;
};

/// The options of formats whose rows are arrays that have names: of which, their labels, and what
/// is missing.
std::vector<Option> array_options();

/// Checks that an array has a label for each row: its shape is n or n x 1.
/// @param array  what messages call it  @throws BadInput if it is another
void check_label_shape(const std::string& array, const std::vector<std::int64_t>& shape);

}  // namespace quorate
