// SPDX-License-Identifier: BSD-2-Clause
#include "driver/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "data/data_set_writer.hpp"
#include "data/encode.hpp"
#include "data/first_use.hpp"
#include "data/formats.hpp"
#include "data/labels.hpp"
#include "data/numbering.hpp"
#include "data/source.hpp"
#include "data/split_rows.hpp"
#include "driver/components.hpp"
#include "driver/output.hpp"
#include "driver/progress.hpp"

namespace quorate {

namespace {

using Numbers = std::vector<std::int64_t>;

constexpr const char* inputs[] = {"input", "labels", "test-input", "test-labels"};

const Entry<Format>& format_of(const Settings& settings, const Reading& reading)
{
    if (settings.text("format") != "auto") return chosen(formats(), settings, "format");
    std::string bytes(1 << 16, '\0');
    bytes.resize(ByteSource(settings.text("input"), reading).read(bytes.data(), bytes.size()));
    return *std::ranges::find_if(formats(),
                                 [&](const auto& entry) { return entry.make.begins(bytes); });
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
    check_output(settings, "output", "data set");
}

// Replaces the labels of the rows from `first` on by those of a file.
// @param may_be_more  whether the file may have more of them, as with --limit-rows
void replace_labels(const std::string& path, const Reading& reading, std::int64_t first,
                    bool may_be_more, RawTable& table)
{
    Levels words;
    auto read = read_labels(path, reading, words);
    const auto labels = std::span(table.label).subspan(static_cast<std::size_t>(first));
    if (read.size() != labels.size() && !(may_be_more && read.size() > labels.size()))
        throw BadInput(fmt::format("{} has {} labels for {} rows: give one for each", path,
                                   read.size(), labels.size()));
    const auto& names = words.names();
    if (first == 0) table.forget_label_kind();
    table.set_label_kind(!names.empty(), path);
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = names.empty()
                        ? read[i]
                        : table.label_words.number(names[static_cast<std::size_t>(read[i])]);
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
        if (limit > 0) table.take_up_to(before + limit);
        format.read(settings, path, reading, table);
        if (set.empty()) train_rows = table.rows();
        const auto labels = std::span(table.label).subspan(static_cast<std::size_t>(before));
        if (settings.on(set + "labels"))
            replace_labels(settings.text(set + "labels"), reading, before, limit > 0, table);
    }
    return train_rows;
}

// Returns the labels of the rows to use: those that are not left out.
// @param like  a data set whose classes they are; may be null
Labels labels_of(const Settings& settings, const RawTable& table, std::int64_t train_rows,
                 const DataSet* like)
{
    Numbers all(static_cast<std::size_t>(table.rows())), rows;
    std::iota(all.begin(), all.end(), 0);
    std::ranges::set_difference(all, table.left_out(), std::back_inserter(rows));
    if (rows.empty())
        settings.refuse("missing", ", but every row has a missing value: drop columns instead");
    std::vector<double> theirs;
    for (const auto i : rows) {
        theirs.push_back(table.label[static_cast<std::size_t>(i)]);
        if (!std::isnan(theirs.back())) continue;
        const std::string set = i < train_rows ? "" : "test-";
        throw BadInput(
            fmt::format("{} has no labels: give --{}labels", settings.text(set + "input"), set));
    }
    const auto& words = table.label_words.names();
    auto labels =
        like ? map_labels_like(theirs, settings, words, like->shape().task, like->class_names())
             : map_labels(theirs, settings, words);
    for (auto& row : labels.kept) row = rows[static_cast<std::size_t>(row)];
    return labels;
}

// The rows of each split, in the order of the data set, as places in Labels::kept.
struct Order {
    Numbers train, test;
};

Order order_of(const Settings& settings, const Labels& labels, std::int64_t train_rows)
{
    const double fraction = settings.real("test-fraction", 0, 0.99);
    const auto most = std::numeric_limits<std::uint32_t>::max();
    const auto seed = static_cast<std::uint32_t>(settings.integer("split-seed", 0, most));
    if (fraction > 0 && settings.on("test-input"))
        settings.refuse("test-fraction", " beside --test-input: give one of them");
    Order order;
    const auto rows = std::ssize(labels.kept);
    if (fraction > 0) {
        std::tie(order.train, order.test) = split_rows(rows, fraction, seed);
    } else {
        for (std::int64_t i = 0; i < rows; ++i)
            (labels.kept[static_cast<std::size_t>(i)] < train_rows ? order.train : order.test)
                .push_back(i);
    }
    if (order.train.empty())
        settings.refuse("test-fraction", ", which leaves no training row: use less");
    if (settings.on("shuffle")) {
        const auto by = static_cast<std::uint32_t>(settings.integer("shuffle", 0, most));
        Numbers shuffled;
        for (const auto i : numpy_permutation(std::ssize(order.train), by))
            shuffled.push_back(order.train[static_cast<std::size_t>(i)]);
        order.train = std::move(shuffled);
    }
    return order;
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
    if (like.features().empty() && encoder.columns() > like.columns())
        throw BadInput(fmt::format("the input has {} columns, {} has {}: give files of one form",
                                   encoder.columns(), like.path(), like.columns()));
    return like.shape();
}

// Whether the classes have names of their own, which are no numbers.
bool has_words(const Labels& labels)
{
    return !std::ranges::all_of(labels.class_names,
                                [](const auto& name) { return to_real(name).has_value(); });
}

std::string listed_classes(const Labels& labels)
{
    return fmt::format("{}", fmt::join(labels.class_names, has_words(labels) ? ", " : " "));
}

// Returns a summary of the labels, which is printed and kept with the data set: "3 of 8 labels
// positive", "5 7 9 rows of the classes 0 1 2", or "labels from 0.1 to 7, mean 3".
std::string balance(const Labels& labels)
{
    const auto& y = labels.value;
    if (labels.task == LearningTask::regression) {
        const auto [least, most] = std::ranges::minmax(y);
        const double mean =
            std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
        return fmt::format("labels from {:g} to {:g}, mean {:g}", least, most, mean);
    }
    if (labels.task == LearningTask::binary)
        return fmt::format("{} of {} labels positive{}", std::ranges::count(y, 1.0), y.size(),
                           has_words(labels) ? " (" + labels.class_names[1] + ")" : "");
    std::vector<std::int64_t> count(labels.class_names.size());
    for (const double label : y) ++count[static_cast<std::size_t>(label)];
    return fmt::format("{} rows of the classes {}", fmt::join(count, " "), listed_classes(labels));
}

// Encodes a row and writes it.
// @param place  returns the number of an encoder's column in the data set; -1: it does not have it
template <class Place>
void write_row(const RawRow& row, double label, const DataShape& shape, RowEncoder& encoder,
               const Place& place, DataSetWriter& writer)
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

}  // namespace

std::vector<Option> import_options()
{
    std::vector<Option> all = {
        {"input", "FILE", "", "rows to import; plain, .gz, .bz2 or .xz"},
        {"labels", "FILE", "",
         "their labels, in place of those in the input: a number or word in each line, IDX, or a "
         "PETSc vector"},
        {"test-input", "FILE", "", "test rows; else see --test-fraction"},
        {"test-labels", "FILE", "", "their labels, likewise"},
        {"output", "FILE", "", "the data set to write"},
        {"format", "auto|NAME", "auto",
         "see quorate list formats; auto: by the first bytes, csv if the first line has a comma, "
         "semicolon or tab"},
        {"limit-rows", "N", "0", "of the input, and of the test input; 0: all"},
        {"test-fraction", "F", "0", "share of the input's rows for test, chosen by --split-seed"},
        {"split-seed", "N", "0",
         "the split is NumPy's legacy permutation of the rows for this seed"},
        {"shuffle", "SEED", "", "put the training rows into a random order"},
        {"storage", "auto|sparse|dense", "auto",
         "auto: dense if the input is, or half of the entries are not zero"},
        {"like", "DATA", "",
         "give the data the columns, classes and scaling of another data set, to predict with its "
         "models; what it does not know is left out"},
        {"image", "CxHxW", "", "rows are images: channels, height, width"},
        {"float32", "", "", "store values in single precision"},
        {"max-bytes", "N", "1000000000000", "of a file when decompressed"},
        {"name", "WORD", "", "name of the data set; default: the output's"},
    };
    add_options(all, label_options());
    add_options(all, RowEncoder::options());
    for (const auto& format : formats()) add_options(all, format.options);
    return all;
}

Imported import_files(const Settings& settings)
{
    check_files(settings);
    ByteProgress progress(settings.on("quiet"));
    Reading reading;
    reading.max_bytes = settings.integer("max-bytes", 1);
    const auto& format = format_of(settings, reading);
    refuse_options_of_others(settings, format);
    reading.progress = [&](std::int64_t bytes) { progress.add(bytes); };
    RawTable table(settings.text("output"));
    const auto train_rows = read_files(settings, format.make, reading, table);
    progress.finish();

    std::optional<DataSet> like;
    if (settings.on("like")) like.emplace(settings.text("like"));
    const auto labels = labels_of(settings, table, train_rows, like ? &*like : nullptr);
    const auto order = order_of(settings, labels, train_rows);
    const auto row_of = [&](std::int64_t i) { return labels.kept[static_cast<std::size_t>(i)]; };
    Numbers fitted;
    for (const auto i : order.train) fitted.push_back(row_of(i));
    Scaling scaling;
    if (like) {
        std::tie(scaling.factor, scaling.shift) = like->scaling();
        scaling.mean = like->means();
    }
    RowEncoder encoder(table, settings, labels.kept, fitted, scaling);
    const auto shape =
        like ? shape_like(*like, encoder) : shape_of(settings, table, encoder, labels);

    const auto& output = settings.text("output");
    const auto name =
        settings.on("name") ? settings.text("name") : std::filesystem::path(output).stem().string();
    const auto their_features = like ? like->features() : std::vector<std::string>();
    const bool by_name = !their_features.empty();
    DataSetWriter writer(output, name, shape, like ? like->ones() : encoder.ones(),
                         settings.on("float32"));
    const bool renumbers = !by_name && !encoder.features().empty() && !shape.dense;
    FirstUse number(renumbers ? encoder.columns() : 0);
    const NumberingLike known(by_name ? encoder.features() : std::vector<std::string>(),
                              their_features);
    const auto place = [&](std::int64_t column) {
        return by_name ? known(column) : renumbers ? number(column) : column;
    };
    for (const auto split : {Split::train, Split::test}) {
        writer.begin(split);
        for (const auto i : split == Split::train ? order.train : order.test)
            write_row(table.row(row_of(i)), labels.value[static_cast<std::size_t>(i)], shape,
                      encoder, place, writer);
    }
    if (has_words(labels)) writer.write_classes(labels.class_names);
    if (encoder.scales()) writer.write_scaling(encoder.scaling().factor, encoder.scaling().shift);
    if (const auto& means = encoder.scaling().mean; !means.empty()) writer.write_means(means);
    Imported made{.train_rows = std::ssize(order.train),
                  .test_rows = std::ssize(order.test),
                  .columns = shape.columns,
                  .entries = writer.entries(),
                  .unknown_columns = known.unknown(),
                  .left_out = std::ssize(table.left_out()),
                  .balance = balance(labels)};
    for (const auto* option : inputs)
        if (settings.on(option)) {
            made.sources.push_back(std::filesystem::path(settings.text(option)).filename());
            made.digests.push_back(sha256(settings.text(option)));
        }
    writer.finish(by_name     ? their_features
                  : renumbers ? number.names(encoder.features())
                              : encoder.features(),
                  {{"command_line", settings.command_line},
                   {"quorate_version", version},
                   {"options", settings.ini()},
                   {"class_values", listed_classes(labels)},
                   {"balance", made.balance},
                   {"sources", fmt::format("{}", fmt::join(made.sources, " "))},
                   {"sha256", fmt::format("{}", fmt::join(made.digests, " "))}});
    return made;
}

}  // namespace quorate
