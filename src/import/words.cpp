// SPDX-License-Identifier: BSD-2-Clause
#include "import/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/log.hpp"
#include "base/shown.hpp"

namespace quorate {

namespace {

struct New {
    std::size_t column;
    std::vector<bool> is_new;  // by level
    std::vector<std::string> words = {};
    std::int64_t rows = 0;
};

std::vector<New> new_words(const RawTable& table,
                           const std::function<bool(std::size_t, std::size_t)>& is_known)
{
    std::vector<New> all;
    for (std::size_t column = 0; column < table.column.size(); ++column) {
        if (!table.column[column].categorical) continue;
        const auto& names = table.column[column].levels.names();
        New one{column, std::vector<bool>(names.size())};
        for (std::size_t level = 0; level < names.size(); ++level)
            if (!is_known(column, level)) {
                one.is_new[level] = true;
                one.words.push_back("'" + names[level] + "'");
            }
        if (!one.words.empty()) all.push_back(std::move(one));
    }
    return all;
}

}  // namespace

void warn_of_identifiers(const RawTable& table)
{
    constexpr std::size_t few = 20;  // rows of which half may differ by chance
    const auto rows = static_cast<std::size_t>(table.rows());
    for (const auto& column : table.column)
        if (const auto values = column.levels.names().size(); rows > few && 2 * values > rows)
            log(LogLevel::warning,
                fmt::format("column {} has {} different values in {} rows, and each becomes a "
                            "column of the data set: leave out dates and identifiers with --drop",
                            shown(column.name), values, rows));
}

void warn_of_new_words(RawTable& table, std::int64_t first,
                       const std::function<bool(std::size_t column, std::size_t level)>& is_known,
                       double least, const std::string& what)
{
    constexpr std::size_t most = 5;  // columns that are named
    auto all = new_words(table, is_known);
    if (all.empty()) return;
    std::int64_t rows = 0;
    auto left_out = std::ranges::lower_bound(table.left_out(), first);
    for (auto i = first; i < table.rows(); ++i) {
        if (left_out != table.left_out().end() && *left_out == i) {
            ++left_out;
            continue;
        }
        ++rows;
        const auto row = table.row(i);
        for (auto& one : all)
            one.rows += one.is_new[static_cast<std::size_t>(row.values[one.column])] ? 1 : 0;
    }
    const auto share = [&](const New& one) {
        return static_cast<double>(one.rows) / static_cast<double>(std::max<std::int64_t>(1, rows));
    };
    std::erase_if(all, [&](const New& one) { return one.rows == 0 || share(one) < least; });
    if (all.empty()) return;
    const bool doubtful =
        std::ranges::any_of(all, [&](const New& one) { return share(one) >= 0.5; });
    std::vector<std::string> pieces;
    for (const auto& one : all) {
        if (pieces.size() == most) {
            pieces.push_back(fmt::format("and in {} more columns", all.size() - most));
            break;
        }
        pieces.push_back(fmt::format("{} of column {} in {} of {} rows, {}", one.words.size(),
                                     shown(table.column[one.column].name), one.rows, rows,
                                     shown(one.words)));
    }
    log(LogLevel::warning, fmt::format("{}: {}{}", what, fmt::join(pieces, "; "),
                                       doubtful ? "; check that words are written alike" : ""));
}

}  // namespace quorate
