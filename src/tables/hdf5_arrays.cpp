// SPDX-License-Identifier: BSD-2-Clause
// Reads HDF5 files of other programs, which hold dense or CSR arrays under names that the user
// gives.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "hdf5/data_sets.hpp"
#include "hdf5/names.hpp"
#include "tables/dense_rows.hpp"
#include "tables/formats.hpp"
#include "tables/sparse_row.hpp"

namespace quorate {

namespace {

// How many rows are read at a time.
constexpr std::int64_t block = 4096;

// Checks that there is such an array. @return its shape
std::vector<std::int64_t> require(const h5::File& file, const std::string& path,
                                  const Settings& settings, const std::string& option,
                                  const std::string& name,
                                  h5::Elements elements = h5::Elements::numbers)
{
    if (const auto fault = h5::fault_of_array(file, path, name); !fault.empty())
        settings.refuse(option, fault);
    if (elements == h5::Elements::numbers && h5::elements_of(file, name) == h5::Elements::words)
        settings.refuse(option, fmt::format(", but {} of {} holds words where numbers are needed",
                                            shown(name), path));
    return h5::shape(file.get(), name);
}

void check_finite(std::span<const double> values, const std::string& path, const std::string& name)
{
    for (const double value : values)
        if (!std::isfinite(value))
            throw BadInput(fmt::format("{}: array {} holds {}: give finite numbers", path,
                                       shown(name), value));
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();  // a label that is missing

// Reads the labels, numbers or words, of so many rows. Empty: there are none.
std::vector<double> labels_of(const h5::File& file, const std::string& path,
                              const Settings& settings, std::int64_t rows, RawTable& table)
{
    const auto& name = settings.text("label");
    if (name.empty() || (labels_are_optional(settings) && !h5::has(file.get(), name))) return {};
    const auto shape = require(file, path, settings, "label", name, h5::Elements::words);
    const auto array = fmt::format("{}: array {}", path, shown(name));
    check_label_shape(array, shape);
    if (shape[0] != rows)
        throw BadInput(
            fmt::format("{} has {} labels for {} rows: give one for each", array, shape[0], rows));
    const bool words = h5::elements_of(file, name) == h5::Elements::words;
    table.set_label_kind(words, path);
    std::vector<double> labels;
    const MissingValues missing(settings);
    if (words) {
        for (const auto& word : h5::read_strings(file.get(), name))
            labels.push_back(missing.find(word) ? none : table.label_words.number(word));
        return labels;
    }
    labels = shape.size() == 1 ? h5::read<double>(file.get(), name)
                               : h5::read_rows<double>(file.get(), name, 0, rows);
    for (const double label : labels)
        if (std::isinf(label))
            throw BadInput(array + " holds an infinite label: give finite numbers");
    for (auto& label : labels)
        if (missing.find(label)) label = none;
    return labels;
}

std::optional<double> label_of(std::span<const double> labels, std::int64_t row)
{
    return labels.empty() ? std::nullopt : std::optional(labels[static_cast<std::size_t>(row)]);
}

void read_dense(const h5::File& file, const std::string& path, const Settings& settings,
                RawTable& table)
{
    const auto& name = settings.text("array");
    const auto shape = require(file, path, settings, "array", name);
    DenseRows dense(settings, path, fmt::format("{}: array {}", path, shown(name)), shape, table);
    const auto labels = labels_of(file, path, settings, dense.rows(), table);
    const auto width = static_cast<std::size_t>(dense.width());
    const auto at_once = std::max<std::int64_t>(1, block * 16 / dense.width());
    for (std::int64_t first = 0; first < dense.rows(); first += at_once) {
        const auto count = std::min(at_once, dense.rows() - first);
        const auto values = h5::read_rows<double>(file.get(), name, first, count);
        for (std::int64_t i = 0; i < count; ++i)
            if (!dense.add(label_of(labels, first + i),
                           std::span(values).subspan(static_cast<std::size_t>(i) * width, width)))
                return;
    }
}

void read_csr(const h5::File& file, const std::string& path, const Settings& settings,
              RawTable& table)
{
    const auto names = split(settings.text("csr"), ',');
    if (names.size() < 2 || names.size() > 3)
        settings.refuse("csr", ": write START,COLUMN or START,COLUMN,VALUE");
    for (const auto& name : names)
        if (const auto shape = require(file, path, settings, "csr", name); shape.size() != 1)
            settings.refuse("csr", fmt::format(", but {} of {} has {} dimensions, not 1",
                                               shown(name), path, shape.size()));
    const auto rows = h5::rows_of(file.get(), names[0]) - 1,
               entries = h5::rows_of(file.get(), names[1]);
    if (rows < 1) throw BadInput(fmt::format("{}: {} tells of no rows", path, names[0]));
    if (names.size() == 3 && h5::rows_of(file.get(), names[2]) != entries)
        throw BadInput(fmt::format("{}: {} and {} differ in length", path, names[1], names[2]));
    const auto wanted = columns_wanted(settings);
    table.open_width = true;
    table.columns = std::max(table.columns, wanted);
    const auto labels = labels_of(file, path, settings, rows, table);
    check_finite(labels, path, settings.text("label"));
    SparseRow row;
    for (std::int64_t first = 0; first < rows; first += block) {
        const auto count = std::min(block, rows - first);
        const auto start = h5::read<std::int64_t>(file.get(), names[0], first, count + 1);
        for (std::size_t i = 0; i < start.size(); ++i)
            if (start[i] < (i > 0 ? start[i - 1] : 0) || start[i] > entries)
                throw BadInput(fmt::format("{}: {} has {} at {}: it must ascend to {}", path,
                                           names[0], start[i], first + static_cast<std::int64_t>(i),
                                           entries));
        const auto here = start.back() - start.front();
        const auto column = h5::read<std::int64_t>(file.get(), names[1], start.front(), here);
        const auto value = names.size() == 3
                               ? h5::read<double>(file.get(), names[2], start.front(), here)
                               : std::vector<double>(static_cast<std::size_t>(here), 1.0);
        check_finite(value, path, names.back());
        for (std::size_t i = 0; i + 1 < start.size(); ++i) {
            const auto number = first + static_cast<std::int64_t>(i);
            const auto from = static_cast<std::size_t>(start[i] - start.front()),
                       length = static_cast<std::size_t>(start[i + 1] - start[i]);
            const auto numbers = std::span(column).subspan(from, length);
            for (const auto one : numbers)
                if (one < 0 || one >= std::numeric_limits<Index>::max() ||
                    (wanted > 0 && one >= wanted))
                    throw BadInput(
                        fmt::format("{}: row {} has an entry in column {}: columns count "
                                    "from 0 and are fewer than --columns",
                                    path, number, one));
            if (const auto twice = row.set(numbers, std::span(value).subspan(from, length)))
                throw BadInput(
                    fmt::format("{}: row {} has two entries in column {}: add them up, as "
                                "sum_duplicates() of SciPy does",
                                path, number, *twice));
            if (length > 0) table.columns = std::max(table.columns, row.columns().back() + 1);
            if (!table.add(
                    label_of(labels, number).value_or(std::numeric_limits<double>::quiet_NaN()),
                    {row.columns(), row.values()}))
                return;
        }
    }
}

void read_hdf5_arrays(const Settings& settings, const std::string& path, const Reading&,
                      RawTable& table)
{
    const auto file = h5::open(path);
    if (settings.on("array") == settings.on("csr"))
        throw BadInput(
            "HDF5 input needs --array NAME, a dense array, or --csr START,COLUMN,VALUE, "
            "and one of the two only");
    h5::reading(path, "make it again", [&] {
        if (settings.on("array"))
            read_dense(file, path, settings, table);
        else
            read_csr(file, path, settings, table);
    });
}

}  // namespace

Entry<Format> hdf5_entry()
{
    return {
        .name = "hdf5",
        .text = "arrays in an HDF5 file, dense or CSR, by their names",
        .options = {{"array", "NAME", "",
                     "dense rows; of .npz X, x, X_train or x_train if it is left out"},
                    {"csr", "START,COLUMN,VALUE", "",
                     "sparse rows, columns from 0; without VALUE all values are one"},
                    {"label", "COLUMN|ARRAY", "",
                     "the column or array with the labels; of .npz y or y_train if it is left out"},
                    {"columns", "N", "", "number of columns; default: the largest index"},
                    Missing::option(),
                    MissingValues::option()},
        .make = {read_hdf5_arrays,
                 [](const std::string& bytes) { return bytes.starts_with("\x89HDF\r\n\x1a\n"); }}};
}

}  // namespace quorate
