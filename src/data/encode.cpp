// SPDX-License-Identifier: BSD-2-Clause
#include "data/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "base/error.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

std::size_t column_of(const CsvTable& table, const std::string& column, const std::string& option,
                      const std::string& name)
{
    const auto at = std::find(table.header.begin(), table.header.end(), column);
    if (at == table.header.end())
        throw BadInput(fmt::format("--{} names {}, which is not a column of {}{}", option, column,
                                   name, suggestion(column, table.header)));
    return static_cast<std::size_t>(at - table.header.begin());
}

double number_in(const CsvTable& table, std::size_t row, std::size_t column,
                 const std::string& name)
{
    const auto number = to_real(trimmed(table.cell(row, column)));
    if (!number)
        throw BadInput(fmt::format(
            "{}: row {}, column {}: expected a finite number, got '{}'; name the column in "
            "--categorical if it is not one",
            name, row + 1, table.header[column], table.cell(row, column).substr(0, 20)));
    return *number;
}

/// One feature: for each row, which of its columns is set, counted from its first column.
struct Feature {
    std::vector<std::int64_t> level;  // by row
    std::vector<std::string> names;   // by column
};

template <class Key>
Feature levels(std::size_t rows, const auto& key_of, const auto& name_of)
{
    Feature feature;
    std::unordered_map<Key, std::int64_t> seen;
    seen.reserve(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const auto [at, is_new] = seen.emplace(key_of(row), static_cast<std::int64_t>(seen.size()));
        if (is_new) feature.names.push_back(name_of(row));
        feature.level.push_back(at->second);
    }
    return feature;
}

Feature single(const CsvTable& table, std::size_t column)
{
    return levels<std::string_view>(
        table.rows(), [&](auto row) { return std::string_view(table.cell(row, column)); },
        [&](auto row) { return table.header[column] + "=" + table.cell(row, column); });
}

// A pair's key is the two level numbers themselves, so that no two pairs ever collide.
Feature pair(const CsvTable& table, std::size_t a, std::size_t b, const Feature& first,
             const Feature& second)
{
    const auto width = static_cast<std::int64_t>(second.names.size());
    return levels<std::int64_t>(
        table.rows(), [&](auto row) { return first.level[row] * width + second.level[row]; },
        [&](auto row) {
            return fmt::format("{}*{}={}*{}", table.header[a], table.header[b], table.cell(row, a),
                               table.cell(row, b));
        });
}

}  // namespace

Examples encode(const CsvTable& table, const Encoding& encoding, const std::string& name)
{
    const auto label = column_of(table, encoding.label, "label", name);
    std::set<std::size_t> categorical;
    for (const auto& column : encoding.categorical)
        categorical.insert(column_of(table, column, "categorical", name));
    if (encoding.all_categorical)
        for (std::size_t column = 0; column < table.header.size(); ++column)
            categorical.insert(column);
    categorical.erase(label);
    std::set<std::pair<std::size_t, std::size_t>> excluded;
    for (const auto& [a, b] : encoding.excluded_pairs) {
        const auto i = column_of(table, a, "exclude-pairs", name),
                   j = column_of(table, b, "exclude-pairs", name);
        excluded.insert(std::minmax(i, j));
    }

    const auto rows = table.rows();
    Examples examples;
    for (std::size_t row = 0; row < rows; ++row) {
        const auto number = to_real(trimmed(table.cell(row, label)));
        if (!number)
            throw BadInput(fmt::format(
                "{}: row {}, column {}: expected a label, a finite number, got '{}'; write "
                "classes as numbers",
                name, row + 1, encoding.label, table.cell(row, label).substr(0, 20)));
        examples.label.push_back(*number);
    }

    // Features in order: each is a list of levels, or the numbers of a column.
    struct Numbers {
        std::vector<double> value;
    };
    std::vector<std::pair<std::int64_t, Feature>> features;  // with their first column
    std::vector<std::pair<std::int64_t, Numbers>> numbers;
    std::unordered_map<std::size_t, std::size_t> feature_of;  // column of the table -> features
    const auto add = [&](Feature feature) {
        examples.feature.insert(examples.feature.end(), feature.names.begin(), feature.names.end());
        const auto first = std::exchange(
            examples.columns, examples.columns + static_cast<std::int64_t>(feature.names.size()));
        features.emplace_back(first, std::move(feature));
    };
    for (std::size_t column = 0; column < table.header.size(); ++column) {
        if (column == label) continue;
        if (categorical.contains(column)) {
            feature_of[column] = features.size();
            add(single(table, column));
            continue;
        }
        Numbers one;
        for (std::size_t row = 0; row < rows; ++row)
            one.value.push_back(number_in(table, row, column, name));
        numbers.emplace_back(examples.columns++, std::move(one));
        examples.feature.push_back(table.header[column]);
    }
    if (encoding.pairs)
        for (auto a = categorical.begin(); a != categorical.end(); ++a)
            for (auto b = std::next(a); b != categorical.end(); ++b)
                if (!excluded.contains({*a, *b}))
                    add(pair(table, *a, *b, features[feature_of[*a]].second,
                             features[feature_of[*b]].second));
    if (encoding.intercept) {
        examples.feature.emplace_back("intercept");
        numbers.emplace_back(examples.columns++, Numbers{std::vector<double>(rows, 1.0)});
    }

    std::vector<std::pair<std::int64_t, double>> entries;
    for (std::size_t row = 0; row < rows; ++row) {
        entries.clear();
        for (const auto& [first, feature] : features)
            entries.emplace_back(first + feature.level[row], 1.0);
        for (const auto& [column, one] : numbers)
            if (one.value[row] != 0) entries.emplace_back(column, one.value[row]);
        std::sort(entries.begin(), entries.end());
        for (const auto& [column, value] : entries) {
            examples.column.push_back(column);
            examples.value.push_back(value);
        }
        examples.start.push_back(static_cast<std::int64_t>(examples.column.size()));
    }
    return examples;
}

}  // namespace quorate
