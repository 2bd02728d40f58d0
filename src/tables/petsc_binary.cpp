// SPDX-License-Identifier: BSD-2-Clause
// PETSc binary files, as MatView and VecView write them: big-endian; class id, sizes, then a
// matrix's row lengths, column numbers and values. Real scalars; 32-bit integers, or 64-bit ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/log.hpp"
#include "tables/formats.hpp"

namespace quorate {

namespace {

constexpr std::int64_t matrix_id = 1211216, vector_id = 1211214, indices_id = 1211218;

// A file of several objects, such as a matrix and its right-hand side. Integers have the width of
// the class id. Counts are never trusted: elements are read one by one, so that a file with a false
// count ends before the memory does.
class PetscFile {
public:
    PetscFile(const std::string& path, const Reading& reading) : source_(path, reading) {}

    /// Goes on to the next object. @return its class id; nothing at the end
    std::optional<std::int64_t> next()
    {
        const auto began = source_.position();
        if (began > 0 && source_.at_end()) return std::nullopt;
        std::int64_t id = source_.big_endian<std::int32_t>("the class id");
        if (id == 0) {
            id = source_.big_endian<std::int32_t>("the class id");
            wide_ = true;
        }
        if (id != matrix_id && id != vector_id && id != indices_id)
            source_.refuse(
                began > 0 ? fmt::format("longer than it says: more follows after byte {}", began)
                          : fmt::format("no matrix or vector of PETSc: its class id is {}", id));
        return id;
    }
    /// Reads over an object, whatever its numbers are. @param id  its class id
    void skip(std::int64_t id)
    {
        const auto over = [&](std::int64_t count, std::size_t size) {
            std::array<char, 16> bytes;
            for (; count > 0; --count) source_.read(bytes.data(), size, "an object");
        };
        const std::size_t width = wide_ ? 8 : 4;
        const auto count = integer("the sizes");
        if (id != matrix_id) return over(count, id == vector_id ? sizeof(double) : width);
        const auto columns = integer("the sizes"), entries = integer("the sizes");
        if (entries >= 0) {
            over(count, width);
            over(entries, width + sizeof(double));
        } else {
            for (std::int64_t row = 0; row < count && columns > 0; ++row)
                over(columns, sizeof(double));
        }
    }
    std::int64_t integer(const std::string& what)
    {
        return wide_ ? source_.big_endian<std::int64_t>(what)
                     : source_.big_endian<std::int32_t>(what);
    }
    std::vector<std::int64_t> integers(std::int64_t count, const std::string& what)
    {
        std::vector<std::int64_t> all;
        for (std::int64_t i = 0; i < count; ++i) all.push_back(integer(what));
        return all;
    }
    double real()
    {
        const auto value = source_.big_endian<double>("the values");
        if (!std::isfinite(value))
            source_.refuse(
                fmt::format("not of finite numbers alone: the value before byte {} is {}",
                            source_.position(), value));
        return value;
    }
    /// @param all  receives the values
    void reals(std::int64_t count, std::vector<double>& all)
    {
        all.clear();
        for (std::int64_t i = 0; i < count; ++i) all.push_back(real());
    }
    /// Reads a vector, at whose class id the file stands.
    std::vector<double> vector()
    {
        const auto count = integer("the length");
        if (count < 1) refuse(fmt::format("a vector of {} elements", count));
        std::vector<double> values;
        reals(count, values);
        return values;
    }
    /// Throws BadInput "FILE is damaged: wrong".
    [[noreturn]] void refuse(const std::string& wrong) const
    {
        source_.refuse("damaged: " + wrong);
    }

private:
    ByteSource source_;
    bool wide_ = false;
};

// The file holds the column numbers of all entries before their values. So the column numbers stay
// in memory until the values are read. Those of a row may stand in any order.
void read_sparse(PetscFile& file, std::int64_t rows, std::int64_t columns, std::int64_t entries,
                 RawTable& table)
{
    const auto lengths = file.integers(rows, "the lengths of the rows");
    for (const auto length : lengths)
        if (length < 0 || length > columns)
            file.refuse(fmt::format("a row has {} entries in {} columns", length, columns));
    const auto sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    if (sum != entries)
        file.refuse(fmt::format("it has {} entries, but its rows {}", entries, sum));
    const auto all = file.integers(entries, "the numbers of the columns");
    for (const auto number : all)
        if (number < 0 || number >= columns)
            file.refuse(fmt::format("it has an entry in column {} of {}", number, columns));
    auto next = all.begin();
    std::vector<std::pair<std::int64_t, double>> row;
    std::vector<std::int64_t> column;
    std::vector<double> value;
    for (const auto length : lengths) {
        row.clear();
        column.clear();
        value.clear();
        for (std::int64_t k = 0; k < length; ++k) row.emplace_back(*next++, file.real());
        std::ranges::sort(row);
        for (const auto& [number, its_value] : row) {
            if (!column.empty() && column.back() == number)
                file.refuse(fmt::format("column {} stands twice in a row", number));
            column.push_back(number);
            value.push_back(its_value);
        }
        table.add(not_given, {column, value});
    }
}

// Reads the matrix, at whose class id the file stands, and adds its rows, as far as they are
// wanted. @return how many there are
std::int64_t read_matrix(PetscFile& file, const std::string& path, RawTable& table)
{
    const auto rows = file.integer("the sizes"), columns = file.integer("the sizes"),
               entries = file.integer("the sizes");
    if (rows < 1 || columns < 1 || columns > std::numeric_limits<Index>::max() || entries < -1)
        file.refuse(fmt::format("a matrix of {} x {} with {} entries", rows, columns, entries));
    table.set_columns(columns, path);
    if (entries >= 0) {
        read_sparse(file, rows, columns, entries, table);
        return rows;
    }
    table.dense = true;
    std::vector<double> values;
    for (std::int64_t row = 0; row < rows; ++row) {
        file.reals(columns, values);
        table.add(not_given, {{}, values});
    }
    return rows;
}

void read_petsc_binary(const Settings& settings, const std::string& path, const Reading& reading,
                       RawTable& table)
{
    const auto before = static_cast<std::size_t>(table.rows());
    PetscFile file(path, reading);
    std::int64_t rows = 0;  // of the first matrix
    std::vector<std::vector<double>> vectors;
    while (const auto id = file.next()) {
        if (*id == vector_id)
            vectors.push_back(file.vector());
        else if (*id == matrix_id && rows == 0)
            rows = read_matrix(file, path, table);
        else
            file.skip(*id);
    }
    if (rows == 0)
        throw BadInput(path + " holds no matrix: give it with --labels if it holds these");
    const auto labels =
        std::ranges::find(vectors, rows, [](const auto& one) { return std::ssize(one); });
    if (labels == vectors.end()) return;
    labels->resize(table.label.size() - before);  // fewer with --limit-rows
    std::ranges::copy(*labels, table.label.begin() + static_cast<std::ptrdiff_t>(before));
    if (!settings.has("labels") || !settings.on("labels"))
        log(LogLevel::note, path + ": its vector has the labels of its matrix");
}

}  // namespace

bool is_petsc(const std::string& bytes)
{
    using namespace std::string_literals;
    const auto narrow = bytes.starts_with("\0\0\0\0"s) ? bytes.substr(4) : bytes;
    return narrow.starts_with("\0\x12\x7b\x50"s) || narrow.starts_with("\0\x12\x7b\x4e"s);
}

std::vector<double> read_petsc_vector(const std::string& path, const Reading& reading)
{
    PetscFile file(path, reading);
    std::vector<double> values;
    while (const auto id = file.next()) {
        if (*id == vector_id && values.empty())
            values = file.vector();
        else
            file.skip(*id);
    }
    if (values.empty())
        throw BadInput(path + " holds no vector: labels are one of a number for each row");
    return values;
}

Entry<Format> petsc_entry()
{
    return {
        .name = "petsc",
        .text =
            "PETSc binary matrix, sparse or dense; its labels are a vector, behind it or --labels",
        .source = "PETSc's MatView and VecView",
        .make = {read_petsc_binary, is_petsc}};
}

}  // namespace quorate
