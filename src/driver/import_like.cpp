// SPDX-License-Identifier: BSD-2-Clause
#include "driver/import_like.hpp"

#include <set>

#include "driver/recorded.hpp"

namespace quorate {

namespace {

// Options that say which rows are read, and where they go, and not what becomes of them. The format
// is that of the file, unless its first bytes do not tell.
const std::set<std::string> own = {
    "config", "format",     "help",       "input",   "labels",        "like",
    "name",   "limit-rows", "max-bytes",  "output",  "plugin",        "quiet",
    "row",    "shuffle",    "split-seed", "storage", "test-fraction", "test-input",
    "image",  "manifest",   "verbose",    "float32", "test-labels",
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

std::string format_of(const DataSet& like)
{
    const auto format = options_of(like)["format"];
    return format == "auto" ? "" : format;
}

}  // namespace quorate
