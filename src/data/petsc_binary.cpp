// SPDX-License-Identifier: BSD-2-Clause
// PETSc binary files, as MatView and VecView write them: big-endian; class id, sizes, then a
// matrix's row lengths, column numbers and values. Real scalars; 32-bit integers, or 64-bit ones.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/index.hpp"
#include "data/byte_order.hpp"
#include "data/formats.hpp"
#include "data/petsc_binary.hpp"

namespace quorate {

namespace {

constexpr std::int64_t matrix_id = 1211216, vector_id = 1211214;

// Reads integers of the same width as the class id.
class PetscFile {
public:
    PetscFile(const std::string& path, const Reading& reading, std::int64_t wanted)
        : source_(path, reading)
    {
        char head[8];
        source_.read(head, 4, "the class id");
        auto id = static_cast<std::int64_t>(from_big_endian<std::int32_t>(head));
        if (id == 0) {
            source_.read(head + 4, 4, "the class id");
            id = from_big_endian<std::int64_t>(head);
            wide_ = true;
        }
        if (id != wanted)
            source_.refuse(fmt::format("no PETSc {}: its class id is {}, not {}",
                                       wanted == matrix_id ? "matrix" : "vector", id, wanted));
    }

    std::int64_t integer(const std::string& what)
    {
        char bytes[8];
        source_.read(bytes, wide_ ? 8 : 4, what);
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
                    fmt::format("damaged: the value before byte {} is {}; all must be finite",
                                source_.position(), all.back()));
        }
    }
    ByteSource& source() { return source_; }

private:
    ByteSource source_;
    bool wide_ = false;
};

void read(const Settings&, const std::string& path, const Reading& reading, RawTable& table)
{
    PetscFile file(path, reading, matrix_id);
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
            if (!table.add(none, {{}, values})) return;
        }
        file.source().expect_end();
        return;
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
    std::size_t at = 0;
    for (const auto length : lengths) {
        const auto numbers = std::span(column).subspan(at, static_cast<std::size_t>(length));
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (numbers[i] < 0 || numbers[i] >= columns || (i > 0 && numbers[i] <= numbers[i - 1]))
                file.source().refuse(
                    fmt::format("damaged: column {} of {} stands where it cannot: columns ascend "
                                "in a row",
                                numbers[i], columns));
        at += numbers.size();
    }
    at = 0;
    for (const auto length : lengths) {
        const auto numbers = std::span(column).subspan(at, static_cast<std::size_t>(length));
        file.reals(length, values);
        if (!table.add(none, {numbers, values})) return;
        at += numbers.size();
    }
    file.source().expect_end();
}

bool begins_with(const std::string& bytes, std::int64_t id)
{
    return (bytes.size() >= 4 && from_big_endian<std::int32_t>(bytes.data()) == id) ||
           (bytes.size() >= 8 && from_big_endian<std::int64_t>(bytes.data()) == id);
}

}  // namespace

bool is_petsc_vector(const std::string& bytes) { return begins_with(bytes, vector_id); }

std::vector<double> read_petsc_vector(const std::string& path, const Reading& reading)
{
    PetscFile file(path, reading, vector_id);
    const auto count = file.integer("the length");
    if (count < 1) file.source().refuse(fmt::format("damaged: a vector of {} elements", count));
    std::vector<double> values;
    file.reals(count, values);
    file.source().expect_end();
    return values;
}

Entry<Format> petsc_entry()
{
    return {.name = "petsc",
            .text = "PETSc binary matrix, sparse or dense; its labels are a vector, --labels",
            .source = "PETSc's MatView and VecView",
            .make = {read, [](const std::string& bytes) { return begins_with(bytes, matrix_id); }}};
}

}  // namespace quorate
