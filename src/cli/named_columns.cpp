// SPDX-License-Identifier: BSD-2-Clause
#include "cli/named_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "tables/feature_names.hpp"

namespace quorate {

namespace {

using Kind = NamedColumn::Kind;

constexpr std::size_t width = 80, most_columns = 40, name_width = 26;

const char* word_of(Kind kind)
{
    const char* words[] = {"number", "category", "pair", "ones"};
    return words[static_cast<int>(kind)];
}

// What was done to the columns of numbers, by their names in the data set.
std::map<std::string, std::pair<double, double>> scalings(const DataSet& data)
{
    std::map<std::string, std::pair<double, double>> all;
    const auto columns = data.source_columns();
    const auto [factor, shift] = data.scaling();
    if (factor.size() != columns.size()) return all;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (!columns[i].second) all[feature_name(columns[i].first)] = {factor[i], shift[i]};
    return all;
}

// The levels that fit a line, and how many they are.
std::string shown_levels(const std::vector<std::string>& levels, std::size_t room, bool all)
{
    auto text = fmt::format("of {} level{}: ", levels.size(), levels.size() == 1 ? "" : "s");
    if (all) return fmt::format("{}{}", text, fmt::join(levels, ", "));
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const auto next = (i == 0 ? "" : ", ") + levels[i];
        if (text.size() + next.size() + 5 > room) return text + (i == 0 ? "..." : ", ...");
        text += next;
    }
    return text;
}

}  // namespace

std::vector<NamedColumn> named_columns(const DataSet& data)
{
    std::set<std::string> sources, categories;
    for (const auto& [name, categorical] : data.source_columns())
        (categorical ? categories : sources).insert(feature_name(name));
    const auto scaled = scalings(data);
    std::vector<NamedColumn> columns;
    std::map<std::string, std::size_t> at;  // of those with levels
    for (const auto& feature : data.features()) {
        const auto parts = parts_of_feature(feature);
        const bool is_pair = categories.contains(parts.column) && !parts.second.empty() &&
                             categories.contains(parts.second);
        if (!parts.level || (!is_pair && !categories.contains(parts.column))) {
            const bool ones = feature == intercept_name && !sources.contains(feature);
            NamedColumn number{feature, ones ? Kind::ones : Kind::number};
            if (const auto scaling = scaled.find(feature); scaling != scaled.end())
                std::tie(number.factor, number.shift) = scaling->second;
            columns.push_back(std::move(number));
            continue;
        }
        const auto name = is_pair ? parts.column + "*" + parts.second : parts.column;
        const auto [place, is_new] = at.try_emplace(name, columns.size());
        if (is_new) columns.push_back({name, is_pair ? Kind::pair : Kind::category});
        columns[place->second].levels.push_back(*parts.level);
    }
    return columns;
}

std::optional<std::int64_t> intercept_of(const DataSet& data)
{
    const auto features = data.features();
    const auto at = std::ranges::find(features, intercept_name);
    const bool of_file = std::ranges::any_of(data.source_columns(), [](const auto& column) {
        return feature_name(column.first) == intercept_name;
    });
    if (at == features.end() || of_file) return {};
    return at - features.begin();
}

nlohmann::ordered_json as_json(const std::vector<NamedColumn>& columns, std::size_t most)
{
    auto all = nlohmann::ordered_json::array();
    for (const auto& column : columns) {
        nlohmann::ordered_json one = {{"name", column.name}, {"kind", word_of(column.kind)}};
        if (column.factor != 1 || column.shift != 0) {
            one["factor"] = column.factor;
            one["shift"] = column.shift;
        }
        if (!column.levels.empty()) {
            const auto names = std::span(column.levels).first(std::min(most, column.levels.size()));
            one["levels"] = column.levels.size();
            one["level_names"] = std::vector<std::string>(names.begin(), names.end());
        }
        all.push_back(std::move(one));
    }
    return all;
}

std::string lines_of(const std::vector<NamedColumn>& columns, bool all)
{
    std::string lines;
    const auto count = all ? columns.size() : std::min(most_columns, columns.size());
    for (const auto& column : std::span(columns).first(count)) {
        auto line = fmt::format("  {:<{}} {}", column.name, name_width, word_of(column.kind));
        if (column.factor != 1 || column.shift != 0)
            line += fmt::format(", scaled: {:.4g} * value {} {:.4g}", column.factor,
                                column.shift < 0 ? '-' : '+', std::abs(column.shift));
        if (!column.levels.empty())
            line +=
                " " + shown_levels(column.levels, width - std::min(width, line.size() + 1), all);
        lines += line + "\n";
    }
    if (count < columns.size())
        lines += fmt::format("  ... and {} more: --all lists them\n", columns.size() - count);
    return lines;
}

}  // namespace quorate
