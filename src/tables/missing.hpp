// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// What counts as missing beside the usual texts, as the user says: words such as unknown, and
/// numbers such as -999, which the cell -999.0 is too.
class MissingValues {
public:
    /// Reads --missing-values. @throws BadInput if one is empty
    explicit MissingValues(const Settings& settings);
    static Option option();

    /// Returns the place in texts() of the one that a cell of a text file holds; nothing: none.
    /// @param number  the cell as a number, if it is one and numbers belong there
    std::optional<std::size_t> find(std::string_view cell,
                                    const std::optional<double>& number = {}) const;
    /// Returns the same for a number of an array.
    std::optional<std::size_t> find(double number) const;
    const std::vector<std::string>& texts() const { return texts_; }

private:
    std::vector<std::string> texts_;
    std::vector<std::optional<double>> numbers_;  // of these texts
};

/// Warns of the texts that no value of a file is: they may be misspelt.
/// @param met  whether one is, by its place in texts()
void warn_of_unmet(const MissingValues& values, const std::vector<bool>& met,
                   const std::string& file);

/// What to do about missing values: of numbers, `mean` goes before `drop`; of categories,
/// `category` does; a label can only be dropped with its row. What is not allowed is refused.
class Missing {
public:
    /// Reads --missing, which formats with missing values have.
    /// @throws BadInput if it is no list of drop, mean and category
    explicit Missing(const Settings& settings);
    static Option option();

    bool drop() const { return drop_; }
    bool mean() const { return mean_; }
    bool category() const { return category_; }
    /// Returns what to do about a value that is missing: "fill it, or give --missing mean or drop".
    /// @param allowed  that would help beside drop: mean, category, or empty
    std::string remedy(const std::string& allowed) const;

private:
    std::string given_;
    bool drops_nothing_;  // rows to predict are dropped only by who imports them
    bool drop_ = false, mean_ = false, category_ = false;
};

/// Whether a cell of a text file says that its value is missing: nothing, ?, NA, N/A, nan or null,
/// in upper or lower case.
bool is_missing(std::string_view cell);

/// The same where a number belongs: also None, <NA>, NaT, #N/A and what other libraries write for
/// NaN, which may be words of a category.
bool is_missing_number(std::string_view cell);

/// The level of a categorical column that stands for missing values.
inline const std::string missing_level = "missing";

}  // namespace quorate
