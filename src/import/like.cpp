// SPDX-License-Identifier: BSD-2-Clause
#include "import/like.hpp"

#include <fmt/format.h>

#include <set>
#include <unordered_set>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "import/words.hpp"
#include "run/recorded.hpp"
#include "tables/feature_names.hpp"

namespace quorate {

namespace {

// Options that say which rows are read, and where they go, and not what becomes of them. The format
// is that of the file, unless its first bytes do not tell.
const std::set<std::string> own = {
    "config", "format",     "help",       "input",   "labels",        "like",
    "name",   "limit-rows", "max-bytes",  "output",  "plugin",        "quiet",
    "row",    "shuffle",    "split-seed", "storage", "test-fraction", "test-input",
    "image",  "manifest",   "verbose",    "float32", "test-labels",   "overwrite",
};

std::map<std::string, std::string> options_of(const DataSet& data)
{
    auto attributes = data.attributes();
    return recorded_options(attributes["options"]);
}

}  // namespace

Settings with_options_of(const DataSet& like, Settings settings)
{
    for (const auto& [name, value] : options_of(like))
        if (!own.contains(name) && settings.has(name) && !settings.given(name))
            settings.set(name, {value, like.path() + ": ", false});
    return settings;
}

std::vector<RawTable::Column> columns_of(const DataSet& like)
{
    std::vector<RawTable::Column> columns;
    for (const auto& [name, categorical] : like.source_columns())
        columns.push_back({name, categorical});
    return columns;
}

std::int64_t raw_columns_of(const DataSet& like)
{
    return like.columns() - (options_of(like)["intercept"] == "on" ? 1 : 0);
}

void check_features(const DataSet& like, const std::vector<std::string>& features)
{
    std::set<std::string> names;
    for (const auto& name : features)
        if (!names.insert(name).second)
            throw BadInput(
                fmt::format("{} has several columns {}, which cannot be told apart: "
                            "import it again",
                            like.path(), shown(name)));
}

void warn_of_words_unlike(const Settings& settings, const DataSet& like,
                          const std::vector<std::string>& features, RawTable& table)
{
    constexpr std::int64_t few = 10;  // rows, of which most may have new words by chance
    if (table.rows() < few) return;
    const std::unordered_set<std::string> names(features.begin(), features.end());
    warn_of_new_words(
        table, 0,
        [&](std::size_t column, std::size_t level) {
            const auto& one = table.column[column];
            return names.contains(feature_name(one.name, one.levels.names()[level]));
        },
        0.5,
        fmt::format("{} has words that {} does not have", settings.text("input"), like.path()));
}

std::string format_of(const DataSet& like)
{
    const auto format = options_of(like)["format"];
    return format == "auto" ? "" : format;
}

}  // namespace quorate
