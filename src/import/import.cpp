// SPDX-License-Identifier: BSD-2-Clause
#include "import/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <tuple>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/shown.hpp"
#include "base/version.hpp"
#include "data/data_set_writer.hpp"
#include "import/labels.hpp"
#include "import/like.hpp"
#include "import/places.hpp"
#include "import/read_table.hpp"
#include "import/row_order.hpp"
#include "process/session.hpp"
#include "run/output.hpp"
#include "tables/encode.hpp"
#include "tables/labels.hpp"
#include "tables/missing.hpp"

namespace quorate {

namespace {

using Positions = std::vector<std::int64_t>;

constexpr const char* inputs[] = {"input", "labels", "test-input", "test-labels"};

void check_files(const Settings& settings)
{
    if (!settings.on("input")) throw BadInput("quorate import needs --input FILE");
    if (settings.on("test-labels") && !settings.on("test-input"))
        throw BadInput("--test-labels needs --test-input FILE: the rows that they belong to");
    const auto& output = settings.text("output");
    if (output.empty()) throw BadInput("quorate import needs --output FILE");
    for (const auto* option : inputs) {
        std::error_code error;
        if (settings.on(option) &&
            std::filesystem::equivalent(output, settings.text(option), error))
            settings.refuse("output",
                            fmt::format(", which is --{} as well: give another name", option));
    }
    check_new_data_set(settings);
}

void warn_of_left_out(const std::vector<std::string>& unknown_columns, const std::string& like)
{
    if (unknown_columns.empty()) return;
    constexpr std::size_t most = 5;
    const auto named = std::min(most, unknown_columns.size());
    log(LogLevel::warning,
        fmt::format("{} columns that {} does not have are left out: '{}'{}", unknown_columns.size(),
                    like,
                    fmt::join(unknown_columns.begin(),
                              unknown_columns.begin() + static_cast<std::ptrdiff_t>(named), "', '"),
                    named < unknown_columns.size() ? ", ..." : ""));
}

DataShape shape_of(const Settings& settings, const RawTable& table, const RowEncoder& encoder,
                   const Labels& labels)
{
    DataShape shape{.columns = encoder.columns(), .task = labels.task};
    if (shape.columns < 1)
        throw BadInput("no row of the input has an entry: there is nothing to learn from");
    if (shape.columns > std::numeric_limits<Index>::max())
        throw BadInput(
            fmt::format("{} columns are more than {}-bit indices can count: use a PETSc "
                        "with 64-bit indices, or fewer --interactions",
                        shape.columns, 8 * sizeof(Index)));
    shape.classes = labels.task == LearningTask::regression ? 0 : std::ssize(labels.class_names);
    const auto& storage = settings.one_of("storage", {"auto", "sparse", "dense"});
    shape.dense = storage == "dense" ||
                  (storage == "auto" &&
                   (table.dense || encoder.fills_zeros() ||
                    2 * encoder.entries_per_row() >= static_cast<double>(shape.columns)) &&
                   !encoder.ones());
    if (!shape.dense && encoder.fills_zeros())
        settings.refuse("storage",
                        ", but --scale makes numbers of zeros: use --storage dense, or unit-rows");
    const auto image = settings.on("image") ? settings.text("image") : table.image;
    if (!image.empty() && !shape.set_image(image) && settings.on("image"))
        settings.refuse("image", fmt::format(", but a row has {} columns: write CxHxW with as "
                                             "many pixels",
                                             shape.columns));
    return shape;
}

// Returns the shape of the data set that --like names, which the new one takes over.
DataShape shape_like(const DataSet& like, const RowEncoder& encoder)
{
    if (encoder.features().empty() && !like.features().empty())
        throw BadInput("the columns of the input have no names, those of " + like.path() +
                       " have: give files of one form");
    if (like.features().empty() && encoder.columns() != like.columns())
        throw BadInput(fmt::format("the input has {} columns, {} has {}: give files of one form",
                                   encoder.columns(), like.path(), like.columns()));
    return like.shape();
}

// Encodes a row and writes it.
void write_row(const RawRow& row, double label, const DataShape& shape, RowEncoder& encoder,
               Places& place, DataSetWriter& writer)
{
    if (!shape.dense) {
        auto entries = encoder.sparse(row);
        for (auto& [column, value] : entries) column = place(column);
        std::erase_if(entries, [](const auto& entry) { return entry.first < 0; });
        std::ranges::sort(entries);
        writer.add(entries, label);
        return;
    }
    const auto& encoded = encoder.dense(row);
    std::vector<double> values(static_cast<std::size_t>(shape.columns));
    for (std::size_t column = 0; column < encoded.size(); ++column)
        if (const auto at = place(static_cast<std::int64_t>(column)); at >= 0)
            values[static_cast<std::size_t>(at)] = encoded[column];
    writer.add(values, label);
}

// Returns where a row stands: "row 7 of x.csv". @param test_begin  the first row of --test-input
std::string place_of(const Settings& settings, const RawTable& table, std::int64_t row,
                     std::int64_t train_rows)
{
    const bool of_test = row >= train_rows && !table.test_begin();
    return fmt::format("row {} of {}", 1 + row - (of_test ? train_rows : 0),
                       settings.text(of_test ? "test-input" : "input"));
}

// Returns the name of a column of the encoder, or how its file counts it.
std::string name_of_column(std::int64_t column, const RawTable& table, const RowEncoder& encoder)
{
    if (!encoder.features().empty()) return encoder.features()[static_cast<std::size_t>(column)];
    return std::to_string(column + (table.dense ? 1 : table.first_column()));
}

void write_columns(const RawTable& table, DataSetWriter& writer)
{
    if (table.column.empty()) return;
    std::vector<std::string> names;
    std::vector<std::int64_t> categorical;
    for (const auto& column : table.column) {
        names.push_back(column.name);
        categorical.push_back(column.categorical);
    }
    writer.write_columns(names, categorical);
}

// The rows of an import, after those that are left out.
struct Rows {
    RawTable& table;
    std::int64_t train_rows;  // rows of --input in the table
    Labels labels;
    RowOrder order;

    // The row of the table at a place in Labels::kept.
    std::int64_t at(std::int64_t place) const
    {
        return labels.kept[static_cast<std::size_t>(place)];
    }
    // Rows of the table to train with.
    Positions training() const
    {
        Positions all;
        for (const auto i : order.train) all.push_back(at(i));
        return all;
    }
};

// The scaling of the data set that the rows are to be like.
Scaling scaling_like(const DataSet& like, const Settings& settings)
{
    Scaling scaling;
    std::tie(scaling.factor, scaling.shift) = like.scaling();
    scaling.mean = like.means();
    if (scaling.mean.empty() && settings.given("missing") && Missing(settings).mean())
        settings.refuse("missing", fmt::format(", but {} was imported without and holds no "
                                               "means: drop the rows, or import it again",
                                               like.path()));
    return scaling;
}

void write_rows(const Settings& settings, const Rows& rows, const DataShape& shape,
                RowEncoder& encoder, Places& place, DataSetWriter& writer)
{
    for (const auto split : {Split::train, Split::test}) {
        writer.begin(split);
        for (const auto i : split == Split::train ? rows.order.train : rows.order.test) {
            try {
                write_row(rows.table.row(rows.at(i)),
                          rows.labels.value[static_cast<std::size_t>(i)], shape, encoder, place,
                          writer);
            } catch (const Misfit& wrong) {
                std::string column = "label";
                for (std::int64_t c = 0; wrong.column() && c < encoder.columns(); ++c)
                    if (place(c) == *wrong.column())
                        column = "column " + name_of_column(c, rows.table, encoder);
                throw BadInput(fmt::format(
                    "{}, {}: {}", place_of(settings, rows.table, rows.at(i), rows.train_rows),
                    column, wrong.reason()));
            }
        }
    }
}

// Adds the names and digests of the files.
void add_sources(const Settings& settings, Imported& made)
{
    for (const auto* option : inputs)
        if (settings.on(option)) {
            made.sources.push_back(std::filesystem::path(settings.text(option)).filename());
            made.digests.push_back(sha256(settings.text(option)));
        }
}

Provenance provenance_of(const Settings& settings, const Labels& labels, const Imported& made)
{
    Provenance provenance = {{"command_line", settings.command_line},
                             {"quorate_version", version},
                             {"options", settings.ini()},
                             {"class_values", listed_classes(labels)},
                             {"balance", made.balance},
                             {"sources", fmt::format("{}", fmt::join(made.sources, " "))},
                             {"sha256", fmt::format("{}", fmt::join(made.digests, " "))}};
    if (const auto count =
            std::ranges::count_if(labels.value, [](double y) { return std::isnan(y); });
        count > 0)
        provenance["unlabelled"] = std::to_string(count);
    return provenance;
}

}  // namespace

Imported import_files(const Settings& given)
{
    check_files(given);
    start_mpi();  // PETSc measures the curvature
    std::optional<DataSet> like;
    if (given.on("like")) like.emplace(given.text("like"), Unlabelled::accepted);
    auto settings = like ? with_options_of(*like, given) : given;
    const auto& output = settings.text("output");
    RawTable table(output);
    const auto train_rows = read_table(settings, like, table);
    auto labels = labels_of(settings, table, train_rows, like ? &*like : nullptr);
    auto order = row_order(settings, labels, train_rows);
    const Rows rows{table, train_rows, std::move(labels), std::move(order)};
    if (settings.real("test-fraction", 0, 0.99) > 0 && !like)
        warn_of_classes_to_test_only(rows.labels, rows.order.train, rows.order.test);
    need_memory(2.0 * sizeof(double) * static_cast<double>(table.columns),
                fmt::format("to read {} columns", table.columns));
    RowEncoder encoder(table, settings, rows.labels.kept, rows.training(),
                       like ? scaling_like(*like, settings) : Scaling());
    const auto shape =
        like ? shape_like(*like, encoder) : shape_of(settings, table, encoder, rows.labels);
    const auto theirs = like ? like->features() : std::vector<std::string>();
    if (!theirs.empty()) {
        check_features(*like, theirs);
        warn_of_words_unlike(settings, *like, theirs, table);
    }

    const auto name =
        settings.on("name") ? settings.text("name") : std::filesystem::path(output).stem().string();
    DataSetWriter writer(output, name, shape, like ? like->ones() : encoder.ones(),
                         settings.on("float32"));
    Places place(encoder.features(), theirs, shape.dense);
    write_rows(settings, rows, shape, encoder, place, writer);
    auto unknown = place.unknown();
    for (const auto column : table.columns_left_out()) unknown.push_back(std::to_string(column));
    if (like) warn_of_left_out(unknown, like->path());
    write_columns(table, writer);
    if (has_words(rows.labels)) writer.write_classes(rows.labels.class_names);
    if (encoder.scales()) writer.write_scaling(encoder.scaling().factor, encoder.scaling().shift);
    if (const auto& means = encoder.scaling().mean; !means.empty()) writer.write_means(means);
    Imported made{.train_rows = std::ssize(rows.order.train),
                  .test_rows = std::ssize(rows.order.test),
                  .columns = shape.columns,
                  .entries = writer.entries(),
                  .unknown_columns = std::move(unknown),
                  .left_out = std::ssize(table.left_out()),
                  .shuffled = rows.order.mended,
                  .balance = balance(rows.labels)};
    add_sources(settings, made);
    writer.finish(place.names(), provenance_of(settings, rows.labels, made));
    return made;
}

}  // namespace quorate
