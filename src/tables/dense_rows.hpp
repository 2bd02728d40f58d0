// SPDX-License-Identifier: BSD-2-Clause
// What dense arrays have in common, whatever container they are in.
#pragma once

#include <cstdint>
#include <optional>
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
    /// Adds the next row. @param label  nothing: there are none
    /// @return whether more are wanted
    /// @throws BadInput if a number is not finite or a label is missing, and --missing does not
    /// help
    bool add(std::optional<double> label, std::span<const double> row);

private:
    [[noreturn]] void refuse(const std::string& wrong) const;
    // Returns the row, or a copy of it with NaN for what --missing-values names.
    std::span<const double> with_nan(std::span<const double> row);

    std::string array_;
    RawTable& table_;
    Missing missing_;
    MissingValues missing_values_;
    std::vector<double> copy_;  // of such a row
    bool may_lack_labels_;
    std::int64_t rows_, width_, next_ = 0;
};

/// Checks that an array has a label for each row: its shape is n or n x 1.
/// @param array  what messages call it  @throws BadInput if it is another
void check_label_shape(const std::string& array, const std::vector<std::int64_t>& shape);

}  // namespace quorate
