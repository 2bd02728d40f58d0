// SPDX-License-Identifier: BSD-2-Clause
#include "import/read_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/shown.hpp"
#include "commands/progress.hpp"
#include "import/labels.hpp"
#include "import/like.hpp"
#include "import/words.hpp"
#include "parts/components.hpp"
#include "tables/feature_names.hpp"
#include "tables/foreign.hpp"
#include "tables/formats.hpp"
#include "tables/source.hpp"

namespace quorate {

namespace {

// Chooses the format. What begins like text says little of it, so the format of the data set that
// the rows are to be like goes first then.
const Entry<Format>& choose_format(Settings& settings, const Reading& reading,
                                   const std::optional<DataSet>& like)
{
    if (settings.text("format") == "auto") {
        std::string bytes(1 << 16, '\0');
        bytes.resize(ByteSource(settings.text("input"), reading).read(bytes.data(), bytes.size()));
        const auto found = std::ranges::find_if(
            formats(), [&](const auto& entry) { return entry.make.begins(bytes); });
        const auto theirs = like ? format_of(*like) : "";
        const bool tells = bytes.find('\0') != std::string::npos && found->name != "libsvm";
        const auto name = theirs.empty() || tells ? found->name : theirs;
        if (name == "csv" || name == "libsvm") refuse_foreign(settings.text("input"), bytes);
        settings.set("format", {name, "", false});
    }
    return chosen(formats(), settings, "format");
}

// Refuses options that only other formats use.
void refuse_options_of_others(const Settings& settings, const Entry<Format>& used)
{
    const auto kind = format_components();
    for (const auto& format : kind.all)
        for (const auto& option : format.options) {
            const auto users = readers(kind, option.name);
            if (settings.given(option.name) && std::ranges::find(users, used.name) == users.end())
                settings.refuse(
                    option.name,
                    fmt::format(", but the input is {} and only {} uses it: leave it out",
                                used.name, alternatives(users)));
        }
}

// Warns of words of the test file that the training file does not have.
// @param known  how many levels each column had before it was read
void warn_of_words_to_test_only(const Settings& settings, const std::vector<std::size_t>& known,
                                std::int64_t first, RawTable& table)
{
    warn_of_new_words(
        table, first, [&](std::size_t column, std::size_t level) { return level < known[column]; },
        0, settings.text("test-input") + " has words that no training row has");
}

// Reads all input files into the table.
// @return how many rows are those of --input; the others are those of --test-input
std::int64_t read_files(const Settings& settings, const Format& format, const Reading& reading,
                        RawTable& table)
{
    const auto limit = settings.integer("limit-rows", 0);
    std::int64_t train_rows = 0;
    for (const std::string set : {"", "test-"}) {
        if (!settings.on(set + "input")) continue;
        const auto& path = settings.text(set + "input");
        const auto before = table.rows();
        if (limit > 0) table.take_up_to(limit);
        std::vector<std::size_t> levels;
        for (const auto& column : table.column) levels.push_back(column.levels.names().size());
        format.read(settings, path, reading, table);
        if (!set.empty() && !settings.on("like"))
            warn_of_words_to_test_only(settings, levels, before, table);
        if (set.empty()) train_rows = table.test_begin().value_or(table.rows());
        if (settings.on(set + "labels"))
            replace_labels(settings.text(set + "labels"), reading, before, limit > 0, table);
    }
    return train_rows;
}

// Says which columns of numbers have other names in the data set.
void tell_quoted_names(const RawTable& table)
{
    std::vector<std::string> quoted;
    for (const auto& column : table.column)
        if (!column.categorical && feature_name(column.name) != column.name)
            quoted.push_back(feature_name(column.name));
    if (!quoted.empty())
        log(LogLevel::note,
            "columns whose names hold = * or \" stand in quotes in the data set: " + shown(quoted));
}

}  // namespace

std::int64_t read_table(Settings& settings, const std::optional<DataSet>& like, RawTable& table)
{
    WorkProgress progress(settings.on("quiet"));
    double megabytes = 0;
    Reading reading;
    reading.max_bytes = settings.integer("max-bytes", 1);
    const auto& format = choose_format(settings, reading, like);
    if (settings.given("drop") && !settings.on("drop"))
        settings.set("drop", {"\"\"", "", true});  // an empty text names what has no name
    refuse_options_of_others(settings, format);
    reading.progress = [&](std::int64_t bytes) {
        megabytes += static_cast<double>(bytes) / 1e6;
        progress.show([&](Seconds passed) {
            return fmt::format("{:.0f} MB read, {:.1f} MB/s", megabytes, megabytes / passed);
        });
    };
    if (like) table.column = columns_of(*like);
    const auto train_rows = read_files(settings, format.make, reading, table);
    progress.finish();
    if (format.name == "libsvm") {
        // Recorded as found, for rows that are to be like these.
        settings.set("first-index", {std::to_string(table.first_column()), "", false});
        if (like && like->features().empty()) table.cut_to(raw_columns_of(*like));
    }
    if (!like) {
        warn_of_identifiers(table);
        tell_quoted_names(table);
    }
    return train_rows;
}

}  // namespace quorate
