// SPDX-License-Identifier: BSD-2-Clause
// Reads HDF5 files of other programs, which hold dense or CSR arrays under names that the user
// gives.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/text.hpp"
#include "data/formats.hpp"
#include "data/hdf5_data_sets.hpp"

namespace quorate {

namespace {

// How many rows are read at a time.
constexpr std::int64_t block = 4096;

void require(const h5::File& file, const std::string& path, const Settings& settings,
             const std::string& option, const std::string& name, std::size_t dimensions)
{
    if (!h5::has(file.get(), name))
        settings.refuse(option,
                        fmt::format(", but {} has no array {}: h5ls lists them", path, name));
    const auto shape = h5::shape(file.get(), name);
    if (shape.size() != dimensions)
        settings.refuse(option, fmt::format(", but {} of {} has {} dimensions, not {}", name, path,
                                            shape.size(), dimensions));
}

void check_finite(std::span<const double> values, const std::string& path, const std::string& name)
{
    for (const double value : values)
        if (!std::isfinite(value))
            throw BadInput(
                fmt::format("{}: {} holds {}: all values must be finite", path, name, value));
}

// Returns the name of the array with the labels; empty if there is none.
std::string label_of(const h5::File& file, const Settings& settings)
{
    const auto& name = settings.text("label");
    const bool absent =
        labels_are_optional(settings) && !name.empty() && !h5::has(file.get(), name);
    return absent ? "" : name;
}

void require_labels(const h5::File& file, const std::string& path, const Settings& settings,
                    std::int64_t rows)
{
    const auto name = label_of(file, settings);
    if (name.empty()) return;
    require(file, path, settings, "label", name, 1);
    const auto count = h5::shape(file.get(), name)[0];
    if (count != rows)
        throw BadInput(fmt::format("{}: {} has {} labels for {} rows: give one for each", path,
                                   name, count, rows));
}

// Reads the labels of rows [first, first + count): NaN without --label.
std::vector<double> labels_of(const h5::File& file, const std::string& path,
                              const Settings& settings, std::int64_t first, std::int64_t count)
{
    const auto name = label_of(file, settings);
    if (name.empty())
        return std::vector<double>(static_cast<std::size_t>(count),
                                   std::numeric_limits<double>::quiet_NaN());
    auto labels = h5::read<double>(file.get(), name, first, count);
    check_finite(labels, path, name);
    return labels;
}

void read_dense(const h5::File& file, const std::string& path, const Settings& settings,
                RawTable& table)
{
    const auto& name = settings.text("array");
    require(file, path, settings, "array", name, 2);
    const auto shape = h5::shape(file.get(), name);
    if (shape[0] < 1 || shape[1] < 1)
        throw BadInput(
            fmt::format("{}: {} is {} x {}: it holds nothing", path, name, shape[0], shape[1]));
    table.set_columns(shape[1], path);
    table.dense = true;
    require_labels(file, path, settings, shape[0]);
    const auto width = static_cast<std::size_t>(shape[1]);
    const auto at_once = std::max<std::int64_t>(1, block * 16 / shape[1]);
    for (std::int64_t first = 0; first < shape[0]; first += at_once) {
        const auto count = std::min(at_once, shape[0] - first);
        const auto values = h5::read_rows<double>(file.get(), name, first, count);
        check_finite(values, path, name);
        const auto label = labels_of(file, path, settings, first, count);
        for (std::size_t i = 0; i < label.size(); ++i)
            if (!table.add(label[i], {{}, std::span(values).subspan(i * width, width)})) return;
    }
}

void read_csr(const h5::File& file, const std::string& path, const Settings& settings,
              RawTable& table)
{
    const auto names = split(settings.text("csr"), ',');
    if (names.size() < 2 || names.size() > 3)
        settings.refuse("csr", ": write START,COLUMN or START,COLUMN,VALUE");
    for (const auto& name : names) require(file, path, settings, "csr", name, 1);
    const auto rows = h5::shape(file.get(), names[0])[0] - 1,
               entries = h5::shape(file.get(), names[1])[0];
    if (rows < 1) throw BadInput(fmt::format("{}: {} tells of no rows", path, names[0]));
    if (names.size() == 3 && h5::shape(file.get(), names[2])[0] != entries)
        throw BadInput(fmt::format("{}: {} and {} differ in length", path, names[1], names[2]));
    const auto wanted = settings.on("columns") ? settings.integer("columns", 1) : 0;
    table.columns = std::max(table.columns, wanted);
    require_labels(file, path, settings, rows);
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
        const auto label = labels_of(file, path, settings, first, count);
        for (std::size_t i = 0; i < label.size(); ++i) {
            const auto from = static_cast<std::size_t>(start[i] - start.front()),
                       length = static_cast<std::size_t>(start[i + 1] - start[i]);
            const auto numbers = std::span(column).subspan(from, length);
            for (std::size_t k = 0; k < length; ++k)
                if (numbers[k] < 0 || numbers[k] >= std::numeric_limits<Index>::max() ||
                    (wanted > 0 && numbers[k] >= wanted) || (k > 0 && numbers[k] <= numbers[k - 1]))
                    throw BadInput(
                        fmt::format("{}: row {} has an entry in column {}: columns count "
                                    "from 0, ascend in a row and are fewer than "
                                    "--columns",
                                    path, first + static_cast<std::int64_t>(i), numbers[k]));
            if (length > 0) table.columns = std::max(table.columns, numbers.back() + 1);
            if (!table.add(label[i], {numbers, std::span(value).subspan(from, length)})) return;
        }
    }
}

void read(const Settings& settings, const std::string& path, const Reading&, RawTable& table)
{
    const auto file = h5::open(path);
    if (settings.on("array") == settings.on("csr"))
        throw BadInput(
            "HDF5 input needs --array NAME, a dense array, or --csr START,COLUMN,VALUE, "
            "and one of the two only");
    try {
        if (settings.on("array"))
            read_dense(file, path, settings, table);
        else
            read_csr(file, path, settings, table);
    } catch (const Failure& damaged) {
        throw BadInput(fmt::format("{} is damaged ({}): make it again", path, damaged.what()));
    }
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
                    {"columns", "N", "", "number of columns; default: the largest index"}},
        .make = {read,
                 [](const std::string& bytes) { return bytes.starts_with("\x89HDF\r\n\x1a\n"); }}};
}

}  // namespace quorate
