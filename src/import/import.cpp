// SPDX-License-Identifier: BSD-2-Clause
#include "import/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "commands/progress.hpp"
#include "data/data_set_writer.hpp"
#include "import/labels.hpp"
#include "import/like.hpp"
#include "import/words.hpp"
#include "parts/components.hpp"
#include "process/session.hpp"
#include "run/output.hpp"
#include "tables/encode.hpp"
#include "tables/feature_names.hpp"
#include "tables/first_use.hpp"
#include "tables/foreign.hpp"
#include "tables/formats.hpp"
#include "tables/labels.hpp"
#include "tables/missing.hpp"
#include "tables/numbering.hpp"
#include "tables/source.hpp"
#include "tables/split_rows.hpp"

namespace quorate {

namespace {

using Numbers = std::vector<std::int64_t>;

constexpr const char* inputs[] = {"input", "labels", "test-input", "test-labels"};

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
        const auto labels = std::span(table.label).subspan(static_cast<std::size_t>(before));
        if (settings.on(set + "labels"))
            replace_labels(settings.text(set + "labels"), reading, before, limit > 0, table);
    }
    return train_rows;
}

// The rows of each split, in the order of the data set, as places in Labels::kept.
struct Order {
    Numbers train, test;
    bool mended = false;  // the training rows were sorted by label, and are so no more
};

// Puts the training rows into a random order.
void shuffle(Order& order, std::uint32_t seed)
{
    Numbers shuffled;
    for (const auto i : numpy_permutation(std::ssize(order.train), seed))
        shuffled.push_back(order.train[static_cast<std::size_t>(i)]);
    order.train = std::move(shuffled);
}

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
    const auto& word = settings.text("shuffle");
    if (word == "auto") {
        std::vector<double> theirs;
        for (const auto i : order.train)
            theirs.push_back(labels.value[static_cast<std::size_t>(i)]);
        // Rows to predict keep their order.
        order.mended = !settings.on("like") &&
                       sorted_by_label(theirs, labels.task != LearningTask::regression);
        if (order.mended) shuffle(order, 0);
    } else if (word != "no") {
        if (!to_integer(word)) settings.refuse("shuffle", ": give a seed, auto or no");
        shuffle(order, static_cast<std::uint32_t>(settings.integer("shuffle", 0, most)));
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
    if (like.features().empty() && encoder.columns() != like.columns())
        throw BadInput(fmt::format("the input has {} columns, {} has {}: give files of one form",
                                   encoder.columns(), like.path(), like.columns()));
    return like.shape();
}

// The numbers and names that the encoder's columns have in the data set.
class Places {
public:
    // @param theirs  names of the columns of the data set that the rows are to be like; empty: it
    //                has none, or there is no such data set
    Places(const RowEncoder& encoder, const std::vector<std::string>& theirs, bool dense)
        : mine_(encoder.features()), theirs_(theirs),
          renumbers_(theirs.empty() && !mine_.empty() && !dense),
          first_use_(renumbers_ ? encoder.columns() : 0),
          like_(theirs.empty() ? std::vector<std::string>() : mine_, theirs)
    {
    }

    // The number of a column; -1: the data set does not have it.
    std::int64_t operator()(std::int64_t column)
    {
        if (!theirs_.empty()) return like_(column);
        return renumbers_ ? first_use_(column) : column;
    }
    // Names of the data set's columns. To be called after all rows.
    std::vector<std::string> names()
    {
        if (!theirs_.empty()) return theirs_;
        return renumbers_ ? first_use_.names(mine_) : mine_;
    }
    // Columns that the data set that the rows are to be like does not have.
    const std::vector<std::string>& unknown() const { return like_.unknown(); }

private:
    const std::vector<std::string>&mine_, &theirs_;
    bool renumbers_;
    FirstUse first_use_;
    NumberingLike like_;
};

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

}  // namespace

std::vector<Option> import_options()
{
    std::vector<Option> all = {
        {"input", "FILE", "", "rows to import; plain, .gz, .bz2, .xz, or alone in a .zip"},
        {"labels", "FILE", "",
         "their labels, in place of those in the input: a number or word in each line, IDX, .npy, "
         "or a "
         "PETSc vector"},
        {"test-input", "FILE", "", "test rows; else see --test-fraction"},
        {"test-labels", "FILE", "", "their labels, likewise"},
        {"output", "FILE", "", "the data set to write"},
        {"overwrite", "", "", "replace a data set of that name"},
        {"format", "auto|NAME", "auto",
         "see quorate list formats; auto: by the first bytes; of text, libsvm if some of the first "
         "lines are"},
        {"limit-rows", "N", "0", "of the input, and of the test input; 0: all"},
        {"test-fraction", "F", "0", "share of the input's rows for test, chosen by --split-seed"},
        {"split-seed", "N", "0",
         "the split is NumPy's legacy permutation of the rows for this seed"},
        {"shuffle", "SEED|auto|no", "auto",
         "put the training rows into a random order; auto: by seed 0 if they are sorted by label, "
         "but not with --like; no: they keep their order"},
        {"storage", "auto|sparse|dense", "auto",
         "auto: dense if the input is, or half of the entries are not zero"},
        {"like", "DATA", "",
         "give the data the columns, classes and scaling of another data set, to predict with its "
         "models: takes over its options, needs no labels, and leaves out columns and categories "
         "that it does not know"},
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

namespace {

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

// Chooses the format of the input, reads all files into the table, and says what it has found.
// @return how many rows are those of --input
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
    if (format.name == "libsvm")  // recorded as found, for rows that are to be like these
        settings.set("first-index", {std::to_string(table.first_column()), "", false});
    if (like && like->features().empty() && table.open_width) table.cut_to(raw_columns_of(*like));
    if (!like) {
        warn_of_identifiers(table);
        tell_quoted_names(table);
    }
    return train_rows;
}

// The rows of an import, after those that are left out.
struct Rows {
    RawTable& table;
    std::int64_t train_rows;  // rows of --input in the table
    Labels labels;
    Order order;

    // The row of the table at a place in Labels::kept.
    std::int64_t at(std::int64_t place) const
    {
        return labels.kept[static_cast<std::size_t>(place)];
    }
    // Rows of the table to train with.
    Numbers training() const
    {
        Numbers all;
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
    start_mpi();  // PETSc reads its own files, and multiplies to measure the curvature
    std::optional<DataSet> like;
    if (given.on("like")) like.emplace(given.text("like"), Unlabelled::accepted);
    auto settings = like ? with_options_of(*like, given) : given;
    const auto& output = settings.text("output");
    RawTable table(output);
    const auto train_rows = read_table(settings, like, table);
    auto labels = labels_of(settings, table, train_rows, like ? &*like : nullptr);
    auto order = order_of(settings, labels, train_rows);
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
    Places place(encoder, theirs, shape.dense);
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
