// SPDX-License-Identifier: BSD-2-Clause
#include "tables/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

const std::string& checked(const std::string& path)
{
    std::string first(4, '\0');
    std::ifstream(path, std::ios::binary).read(first.data(), std::ssize(first));
    if (!is_zip(first))
        throw BadInput(path + " is neither .npy nor .npz: give such a file, or name its --format");
    return path;
}

}  // namespace

Npz::Npz(const std::string& path, const Reading& reading)
    : reading_(reading), archive_(checked(path))
{
    const std::string end = ".npy";
    for (const auto& name : archive_.names())
        if (name.ends_with(end)) names_.push_back(name.substr(0, name.size() - end.size()));
    auto sorted = names_;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw BadInput(fmt::format("{} has two arrays {}: save it again, with a name for each",
                                   path, shown(*twice)));
    if (names_.empty())
        throw BadInput(path + " is a zip archive without arrays: give what numpy.savez wrote");
}

bool Npz::has(const std::string& name) const
{
    return std::ranges::find(names_, name) != names_.end();
}

void Npz::require(const std::string& name, const std::string& option) const
{
    if (!has(name))
        throw BadInput(fmt::format("--{} is {}, but {} has no such array{}", option, name, path(),
                                   shown_near(name, names_)));
}

NpyReader Npz::open(const std::string& name) const
{
    return {ByteSource(archive_.open(name + ".npy"), path(), reading_), name};
}

namespace {

// Entries of a matrix: row, column and value.
struct Entries {
    std::vector<double> row, column, value;
};

std::vector<double> vector_of(const Npz& npz, const std::string& name, std::size_t length)
{
    if (!npz.has(name))
        throw BadInput(
            fmt::format("{} is no whole sparse matrix: it has no array {}", npz.path(), name));
    auto array = npz.open(name);
    if (array.shape().size() != 1) array.refuse("is no vector: the matrix is damaged");
    auto values = array.all();
    array.end();
    if (length > 0 && values.size() != length)
        array.refuse(
            fmt::format("has {} elements, not {}: the matrix is damaged", values.size(), length));
    return values;
}

// Writes out the numbers of rows (or columns) that a vector of beginnings stands for.
std::vector<double> expanded(const Npz& npz, std::int64_t rows, std::size_t entries)
{
    const auto start = vector_of(npz, "indptr", static_cast<std::size_t>(rows) + 1);
    if (start[0] != 0 || !std::ranges::is_sorted(start) ||
        start.back() != static_cast<double>(entries))
        throw BadInput(fmt::format("{} is damaged: indptr does not ascend from 0 to the {} entries",
                                   npz.path(), entries));
    std::vector<double> all(entries);
    for (std::size_t row = 0; row + 1 < start.size(); ++row)
        std::fill(all.begin() + static_cast<std::int64_t>(start[row]),
                  all.begin() + static_cast<std::int64_t>(start[row + 1]),
                  static_cast<double>(row));
    return all;
}

Entries entries_of(const Npz& npz, const std::string& format, std::int64_t rows,
                   std::int64_t columns)
{
    Entries entries;
    entries.value = vector_of(npz, "data", 0);
    const auto count = entries.value.size();
    const auto numbers = [&](const char* name) {
        return count > 0 ? vector_of(npz, name, count) : std::vector<double>();
    };
    if (format == "csr") {
        entries.row = expanded(npz, rows, count);
        entries.column = numbers("indices");
    } else if (format == "csc") {
        entries.row = numbers("indices");
        entries.column = expanded(npz, columns, count);
    } else {
        entries.row = numbers("row");
        entries.column = numbers("col");
    }
    const auto inside = [](double number, std::int64_t size) {
        return number >= 0 && number < static_cast<double>(size) && number == std::floor(number);
    };
    for (std::size_t i = 0; i < count; ++i)
        if (!inside(entries.row[i], rows) || !inside(entries.column[i], columns) ||
            !std::isfinite(entries.value[i]))
            throw BadInput(fmt::format(
                "{} has the entry {} in row {}, column {} of {} x {}: give "
                "finite numbers, in the matrix",
                npz.path(), entries.value[i], entries.row[i], entries.column[i], rows, columns));
    return entries;
}

}  // namespace

bool is_sparse(const Npz& npz) { return npz.has("format") && npz.has("shape") && npz.has("data"); }

void read_sparse(const Npz& npz, RawTable& table)
{
    auto array = npz.open("format");
    if (!array.is_text() || array.row_size() != 1)
        array.refuse("is no word: the matrix is damaged");
    const auto format = array.next_text();
    if (format != "csr" && format != "csc" && format != "coo")
        throw BadInput(
            fmt::format("{} is a sparse matrix of the format {}: save it as CSR, CSC or "
                        "COO, as scipy.sparse.save_npz(path, X.tocsr())",
                        npz.path(), shown(format)));
    const auto shape = vector_of(npz, "shape", 2);
    constexpr auto most = static_cast<double>(std::numeric_limits<Index>::max());
    if (!(shape[0] >= 1 && shape[0] <= 1e12 && shape[1] >= 1 && shape[1] <= most))
        throw BadInput(
            fmt::format("{} is a matrix of {} x {}: it holds nothing, or more than can "
                        "be counted",
                        npz.path(), shape[0], shape[1]));
    const auto rows = static_cast<std::int64_t>(shape[0]),
               columns = static_cast<std::int64_t>(shape[1]);
    const auto entries = entries_of(npz, format, rows, columns);
    table.set_columns(columns, npz.path());
    std::vector<std::size_t> order(entries.value.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, {}, [&](std::size_t i) { return std::pair(entries.row[i], entries.column[i]); });
    std::vector<std::int64_t> column;
    std::vector<double> value;
    auto at = order.begin();
    for (std::int64_t row = 0; row < rows; ++row) {
        column.clear();
        value.clear();
        for (; at != order.end() && entries.row[*at] == static_cast<double>(row); ++at) {
            const auto its = static_cast<std::int64_t>(entries.column[*at]);
            if (!column.empty() && column.back() == its) {  // they add up, as in SciPy
                value.back() += entries.value[*at];
                continue;
            }
            column.push_back(its);
            value.push_back(entries.value[*at]);
        }
        if (!table.add(std::numeric_limits<double>::quiet_NaN(), {column, value})) return;
    }
}

}  // namespace quorate
