// SPDX-License-Identifier: BSD-2-Clause
// NumPy's .npy and .npz.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "tables/dense_rows.hpp"
#include "tables/formats.hpp"
#include "tables/missing.hpp"
#include "tables/npz.hpp"

namespace quorate {

namespace {

// Reads the labels of so many rows, numbered like the table's words. Empty: there are none.
std::vector<double> labels_of(std::optional<NpyReader> array, const MissingValues& missing,
                              std::int64_t rows, const std::string& path, RawTable& table)
{
    if (!array) return {};
    Levels words;
    auto labels = read_npy_labels(*array, words);
    if (std::ssize(labels) != rows)
        array->refuse(
            fmt::format("has {} labels for {} rows: give one for each", labels.size(), rows));
    table.set_label_kind(array->is_text(), path);
    for (auto& label : labels) {
        const auto* word =
            array->is_text() ? &words.names()[static_cast<std::size_t>(label)] : nullptr;
        if (word ? missing.find(*word) : missing.find(label))
            label = std::numeric_limits<double>::quiet_NaN();
        else if (word)
            label = table.label_words.number(*word);
    }
    return labels;
}

// Adds the rows of an array. @return false if no more are wanted
bool add_rows(const Settings& settings, const std::string& path, NpyReader rows,
              std::optional<NpyReader> labels, RawTable& table)
{
    DenseRows dense(settings, path, rows.what(), rows.shape(), table);
    const bool labelled = labels.has_value();
    const auto count = dense.rows(), width = dense.width();
    const auto label = labels_of(std::move(labels), MissingValues(settings), count, path, table);
    const auto at_once = rows.fortran() ? count : std::max<std::int64_t>(1, (1 << 16) / width);
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) {
        if (i % at_once == 0) {
            if (rows.fortran())
                values = rows.all();
            else
                rows.next(std::min(at_once, count - i) * width, values);
        }
        const auto row = std::span(values).subspan(static_cast<std::size_t>(i % at_once * width),
                                                   static_cast<std::size_t>(width));
        if (!dense.add(labelled ? std::optional(label[static_cast<std::size_t>(i)]) : std::nullopt,
                       row))
            return false;
    }
    rows.end();
    return true;
}

// The names of the arrays of an archive that hold rows and labels.
struct Names {
    std::string rows, labels;
};

Names names_of(const Settings& settings, const Npz& npz)
{
    Names names{settings.text("array"), settings.text("label")};
    if (names.rows.empty())
        for (const auto* name : {"X", "x", "X_train", "x_train"})
            if (names.rows.empty() && npz.has(name)) names.rows = name;
    if (names.rows.empty() && npz.names().size() == 1) names.rows = npz.names()[0];
    if (names.rows.empty())
        throw BadInput(
            fmt::format("{} has no array X: name the rows with --array, and the labels "
                        "with --label; it holds {}",
                        npz.path(), shown(npz.names())));
    npz.require(names.rows, "array");
    const std::string end = names.rows.ends_with("_train") ? "_train" : "";
    if (names.labels.empty() && npz.has("y" + end)) names.labels = "y" + end;
    if (names.labels.empty()) return names;
    if (labels_are_optional(settings) && !npz.has(names.labels))
        names.labels.clear();
    else
        npz.require(names.labels, "label");
    return names;
}

// X_train or X gives X_test.
std::string of_test(const std::string& name)
{
    const std::string end = "_train";
    return (name.ends_with(end) ? name.substr(0, name.size() - end.size()) : name) + "_test";
}

void read_numpy(const Settings& settings, const std::string& path, const Reading& reading,
                RawTable& table)
{
    std::string first(8, '\0');
    first.resize(ByteSource(path, reading).read(first.data(), first.size()));
    if (is_npy(first)) {
        if (settings.on("array") && settings.given("array"))
            settings.refuse("array",
                            ", but " + path + " is one array without a name: leave it out");
        add_rows(settings, path, NpyReader(ByteSource(path, reading), "X"), std::nullopt, table);
        return;
    }
    const Npz npz(path, reading);
    const auto open_labels = [&](const std::string& name) -> std::optional<NpyReader> {
        if (name.empty()) return std::nullopt;
        return npz.open(name);
    };
    const bool first_file = table.rows() == 0;
    const auto names = names_of(settings, npz);
    add_rows(settings, path, npz.open(names.rows), open_labels(names.labels), table);
    const auto test_rows = of_test(names.rows);
    if (!first_file || !npz.has(test_rows)) return;
    const auto test_labels = names.labels.empty() ? "" : of_test(names.labels);
    if (!test_labels.empty() && !npz.has(test_labels))
        throw BadInput(
            fmt::format("{} has no array {}: the rows of {} need labels like those of {}", path,
                        test_labels, test_rows, names.rows));
    begin_own_test_rows(settings, path, test_rows, table);
    add_rows(settings, path, npz.open(test_rows), open_labels(test_labels), table);
}

}  // namespace

Entry<Format> numpy_entry()
{
    return {.name = "numpy",
            .text = ".npy and .npz of NumPy: rows X, labels y, test rows X_test, y_test",
            .source = "numpy.save, numpy.savez",
            .options = {{"array", "NAME", "",
                         "dense rows; of .npz X, x, X_train or x_train if it is left out"},
                        {"label", "COLUMN|ARRAY", "",
                         "the column or array with the labels; of .npz y or y_train if it is left "
                         "out"},
                        Missing::option(),
                        MissingValues::option()},
            .make = {read_numpy,
                     [](const std::string& bytes) { return is_npy(bytes) || is_zip(bytes); }}};
}

}  // namespace quorate
