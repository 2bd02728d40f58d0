// SPDX-License-Identifier: BSD-2-Clause
#include "quorate/given.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "hdf5/libraries.hpp"

namespace quorate {

namespace {

std::int64_t length(const Indices& indices)
{
    return std::visit([](const auto& all) { return std::ssize(all); }, indices);
}

std::int64_t at(const Indices& indices, std::int64_t i)
{
    return std::visit(
        [&](const auto& all) -> std::int64_t { return all[static_cast<std::size_t>(i)]; }, indices);
}

void check_finite(std::span<const double> values, const std::string& what)
{
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw BadInput(
                fmt::format("{} hold {} at element {}: give finite numbers", what, values[i], i));
}

// Whether a row's entries are there, and their columns ascend.
bool fits(const CsrMatrix& rows, std::int64_t row)
{
    const auto first = at(rows.start, row), end = at(rows.start, row + 1);
    if (first > end || end > length(rows.column)) return false;
    std::int64_t before = -1;
    for (auto entry = first; entry < end; ++entry) {
        const auto column = at(rows.column, entry);
        if (column <= before || column >= rows.columns) return false;
        before = column;
    }
    return true;
}

void check_sparse(const CsrMatrix& rows, std::int64_t labels, const std::string& split)
{
    if (length(rows.start) != labels + 1)
        throw BadInput(fmt::format("the {} rows are {}, but there are {} labels", split,
                                   length(rows.start) - 1, labels));
    const auto entries = std::ssize(rows.value);
    bool right = at(rows.start, 0) == 0 && at(rows.start, labels) == entries &&
                 length(rows.column) == entries;
    for (std::int64_t row = 0; right && row < labels; ++row) right = fits(rows, row);
    if (!right)
        throw BadInput("the " + split +
                       " rows are no sparse matrix of that shape: its arrays contradict it");
}

}  // namespace

std::span<const double> values_of(const AnyMatrix& rows)
{
    if (const auto* dense = std::get_if<DenseMatrix>(&rows)) return dense->values;
    return std::get<CsrMatrix>(rows).value;
}

std::int64_t columns_of(const AnyMatrix& rows)
{
    return std::visit([](const auto& all) { return all.columns; }, rows);
}

void check_rows(const LabelledRows& given, const std::string& split, bool labelled)
{
    check_finite(values_of(given.rows), "the " + split + " rows");
    if (labelled) check_finite(given.labels, "the " + split + " labels");
    const auto labels = std::ssize(given.labels);
    if (columns_of(given.rows) < 1) throw BadInput("the rows have no columns: give X of n x p");
    if (const auto* sparse = std::get_if<CsrMatrix>(&given.rows))
        check_sparse(*sparse, labels, split);
    else if (const auto& dense = std::get<DenseMatrix>(given.rows);
             std::ssize(dense.values) % dense.columns != 0 ||
             std::ssize(dense.values) / dense.columns != labels)
        throw BadInput(
            fmt::format("the {} rows are no matrix with a row for each of {} labels: give X of n "
                        "x p and y of n",
                        split, labels));
}

void add_rows(const AnyMatrix& rows, std::span<const double> labels, DataSetWriter& writer)
{
    if (const auto* dense = std::get_if<DenseMatrix>(&rows)) {
        const auto columns = static_cast<std::size_t>(dense->columns);
        for (std::size_t i = 0; i < labels.size(); ++i)
            writer.add(dense->values.subspan(i * columns, columns), labels[i]);
        return;
    }
    const auto& sparse = std::get<CsrMatrix>(rows);
    std::vector<std::pair<std::int64_t, double>> entries;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i);
        entries.clear();
        for (auto entry = at(sparse.start, row); entry < at(sparse.start, row + 1); ++entry)
            entries.emplace_back(at(sparse.column, entry),
                                 sparse.value[static_cast<std::size_t>(entry)]);
        writer.add(entries, labels[i]);
    }
}

DataShape shape_of(const DataOptions& options, std::int64_t columns, bool dense)
{
    DataShape shape{.columns = columns};
    shape.dense = dense;
    if (!options.image.empty() && !shape.set_image(options.image))
        throw BadInput(fmt::format("rows are to be images of {}, but have {} columns: write CxHxW",
                                   options.image, columns));
    return shape;
}

Labels stored_labels(const std::vector<double>& given, std::int64_t train,
                     const DataOptions& options)
{
    return map_labels(given, make_settings(label_options(), {{"task", options.task}}), {}, train);
}

void finish(DataSetWriter& writer, const Labels& labels)
{
    // Classes are numbers here, so they are listed as import lists them.
    writer.finish({}, {{"command_line", "quorate::Data"},
                       {"quorate_version", version},
                       {"options", ""},
                       {"class_values", fmt::format("{}", fmt::join(labels.class_names, " "))},
                       {"sources", ""},
                       {"sha256", ""}});
}

inline namespace QUORATE_ABI {

TemporaryData::TemporaryData() : owner_(getpid())
{
    auto name = std::filesystem::absolute(temporary_folder() / "quorate-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        throw Failure(fmt::format("no folder for a data set can be made: {}: {}; set TMPDIR", name,
                                  std::strerror(errno)));
    folder_ = name;
    path_ = (folder_ / "data.h5").string();
}

TemporaryData::~TemporaryData()
{
    if (owner_ != getpid()) return;  // a fork of it
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
}

}  // namespace QUORATE_ABI

}  // namespace quorate
