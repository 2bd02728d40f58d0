// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// Which values are missing beside the usual texts, as the user says: words such as unknown, and
/// numbers such as -999, which the cell -999.0 is too. And what to do about missing values: of
/// numbers, `mean` goes before `drop`; of categories, `category` does; a label can only be dropped
/// with its row. What is not allowed is refused.
class Missing {
public:
    /// Reads --missing and --missing-values, which formats with missing values have.
    /// @throws BadInput if the one is no list of drop, mean and category, or a text of the other is
    ///     empty
    explicit Missing(const Settings& settings);
    static std::vector<Option> options();

    bool drop() const { return drop_; }
    bool mean() const { return mean_; }
    bool category() const { return category_; }
    /// Returns what to do about a value that is missing: "fill it, or give --missing mean or drop".
    /// @param allowed  that would help beside drop: mean, category, or empty
    std::string remedy(const std::string& allowed) const;

    /// How many values --missing-values names.
    std::size_t named_values() const { return values_.size(); }
    /// Finds a value among those.
    /// @param text  of a cell, or a word; empty: there is only a number
    /// @param number  it as a number, if it is one and numbers belong there
    /// @return its place; nothing: it is none of them
    std::optional<std::size_t> named(std::string_view text,
                                     const std::optional<double>& number = {}) const;
    /// Whether a value is one of them. Likewise.
    bool names(std::string_view text, const std::optional<double>& number = {}) const
    {
        return !values_.empty() && named(text, number);
    }
    /// Warns of texts of --missing-values that were no value of a file: they may be misspelt.
    /// @param met  whether the file has a value, by its place
    void warn_of_unmet(const std::vector<bool>& met, const std::string& file) const;

private:
    struct Value {
        std::string text;
        std::optional<double> number;
    };

    std::string given_;
    bool drops_nothing_;  // rows to predict are dropped only by who imports them
    bool drop_ = false, mean_ = false, category_ = false;
    std::vector<Value> values_;
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
