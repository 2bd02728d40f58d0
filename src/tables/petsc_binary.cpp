// SPDX-License-Identifier: BSD-2-Clause
// PETSc binary files, as MatView and VecView write them: big-endian; class id, sizes, then a
// matrix's row lengths, column numbers and values. Real scalars; 32-bit integers, or 64-bit ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/log.hpp"
#include "tables/byte_order.hpp"
#include "tables/formats.hpp"
#include "tables/petsc_binary.hpp"
#include "tables/sparse_row.hpp"

namespace quorate {

namespace {

constexpr std::int64_t matrix_id = 1211216, vector_id = 1211214, indices_id = 1211218;

// A file of several objects, such as a matrix and its right-hand side. Integers have the width of
// the class id.
class PetscFile {
public:
    PetscFile(const std::string& path, const Reading& reading) : source_(path, reading) {}

    /// Goes on to the next object. @return its class id; nothing at the end
    std::optional<std::int64_t> next()
    {
        const auto began = source_.position();
        char head[8] = {};
        if (began == 0)
            source_.read(head, 4, "the class id");
        else if (source_.read(head, 4) == 0)
            return std::nullopt;
        std::int64_t id = from_big_endian<std::int32_t>(head);
        if (id == 0) {
            source_.read(head + 4, 4);
            id = from_big_endian<std::int64_t>(head);
            wide_ = true;
        }
        if (id != matrix_id && id != vector_id && id != indices_id)
            source_.refuse(
                began > 0 ? fmt::format("longer than it says: more follows after byte {}", began)
                          : fmt::format("no matrix or vector of PETSc: its class id is {}", id));
        return id;
    }
    /// Reads over an object. @param id  its class id
    void skip(std::int64_t id)
    {
        const auto count = integer("the sizes");
        if (id == indices_id) return skip_bytes(count, width());
        if (id == vector_id) return skip_bytes(count, 8);
        const auto columns = integer("the sizes"), entries = integer("the sizes");
        if (entries == -1) {
            for (std::int64_t row = 0; row < count; ++row) skip_bytes(columns, 8);
        } else {
            skip_bytes(count, width());
            skip_bytes(entries, width());
            skip_bytes(entries, 8);
        }
    }

    std::int64_t integer(const std::string& what)
    {
        char bytes[8];
        source_.read(bytes, width(), what);
        return wide_ ? from_big_endian<std::int64_t>(bytes) : from_big_endian<std::int32_t>(bytes);
    }
    /// Read in pieces. If the count is false, the file then ends before the memory does.
    std::vector<std::int64_t> integers(std::int64_t count, const std::string& what)
    {
        std::vector<std::int64_t> all;
        for (std::int64_t i = 0; i < count; ++i) all.push_back(integer(what));
        return all;
    }
    /// Read in pieces, too. @param all  receives the values
    void reals(std::int64_t count, std::vector<double>& all)
    {
        all.clear();
        for (std::int64_t i = 0; i < count; ++i) {
            char bytes[8];
            source_.read(bytes, 8, "the values");
            all.push_back(from_big_endian<double>(bytes));
            if (!std::isfinite(all.back()))
                source_.refuse(
                    fmt::format("not of finite numbers alone: the value before byte {} is {}",
                                source_.position(), all.back()));
        }
    }
    /// Reads a vector, at whose class id the file stands.
    std::vector<double> vector()
    {
        const auto count = integer("the length");
        if (count < 1) source_.refuse(fmt::format("damaged: a vector of {} elements", count));
        std::vector<double> values;
        reals(count, values);
        return values;
    }
    ByteSource& source() { return source_; }

private:
    std::size_t width() const { return wide_ ? 8 : 4; }
    void skip_bytes(std::int64_t count, std::size_t size)
    {
        char bytes[8];
        for (std::int64_t i = 0; i < count; ++i) source_.read(bytes, size, "an object");
    }

    ByteSource source_;
    bool wide_ = false;
};

// Reads the matrix, at whose class id the file stands, and adds its rows, as far as they are
// wanted. @return how many there are
std::int64_t read_matrix(PetscFile& file, const std::string& path, RawTable& table)
{
    const auto rows = file.integer("the sizes"), columns = file.integer("the sizes"),
               entries = file.integer("the sizes");
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    if (rows < 1 || columns < 1 || columns > most || entries < -1)
        file.source().refuse(
            fmt::format("damaged: a matrix of {} x {} with {} entries", rows, columns, entries));
    table.set_columns(columns, path);
    const auto none = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> values;
    if (entries == -1) {  // dense, row by row
        table.dense = true;
        for (std::int64_t row = 0; row < rows; ++row) {
            file.reals(columns, values);
            table.add(none, {{}, values});
        }
        return rows;
    }
    // The file holds the column numbers of all entries before their values. So the column numbers
    // stay in memory until the values are read.
    const auto lengths = file.integers(rows, "the lengths of the rows");
    for (const auto length : lengths)
        if (length < 0 || length > columns)
            file.source().refuse(
                fmt::format("damaged: a row has {} entries in {} columns", length, columns));
    const auto sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    if (sum != entries)
        file.source().refuse(
            fmt::format("damaged: it has {} entries, but its rows {}", entries, sum));
    const auto column = file.integers(entries, "the numbers of the columns");
    for (const auto number : column)
        if (number < 0 || number >= columns)
            file.source().refuse(
                fmt::format("damaged: it has an entry in column {} of {}", number, columns));
    std::size_t at = 0;
    SparseRow row;
    for (const auto length : lengths) {
        file.reals(length, values);
        const auto numbers = std::span(column).subspan(at, static_cast<std::size_t>(length));
        if (const auto twice = row.set(numbers, values))
            file.source().refuse(fmt::format("damaged: column {} stands twice in a row", *twice));
        table.add(none, {row.columns(), row.values()});
        at += numbers.size();
    }
    return rows;
}

void read_petsc_binary(const Settings& settings, const std::string& path, const Reading& reading,
                       RawTable& table)
{
    PetscFile file(path, reading);
    const auto before = static_cast<std::size_t>(table.rows());
    std::int64_t rows = 0;
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

bool begins_with(const std::string& bytes, std::int64_t id)
{
    return (bytes.size() >= 4 && from_big_endian<std::int32_t>(bytes.data()) == id) ||
           (bytes.size() >= 8 && from_big_endian<std::int64_t>(bytes.data()) == id);
}

}  // namespace

bool is_petsc(const std::string& bytes)
{
    return begins_with(bytes, vector_id) || begins_with(bytes, matrix_id);
}

std::vector<double> read_petsc_vector(const std::string& path, const Reading& reading)
{
    PetscFile file(path, reading);
    std::vector<double> values;
    while (const auto id = file.next()) {
        if (*id != vector_id || !values.empty())
            file.skip(*id);
        else
            values = file.vector();
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
