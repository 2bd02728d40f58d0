// SPDX-License-Identifier: BSD-2-Clause
// A table of a trace: a group of one-dimensional data sets of equal length, one for each column.
// Local. Functions throw Failure if HDF5 fails; see hdf5/hdf5.hpp for threads.
#pragma once

#include <span>
#include <vector>

#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"
#include "trace/rows.hpp"
#include "trace/scales.hpp"

namespace quorate::trace {

/// Calls f(column) for each column of a row type, in the order of the file.
template <class Row, class F>
void for_columns(F f)
{
    std::apply([&](const auto&... column) { (f(column), ...); }, Row::columns);
}

/// Tells the constructor of Table that the file has the table.
struct Existing {};
inline constexpr Existing existing;

/// Appends rows to a table of an open file.
template <class Row>
class Table {
public:
    using Kind = Row;
    static constexpr const char* name = Row::table;

    /// Opens the table of a file.
    Table(hid_t file, Existing) : group_(h5::open_group(file, Row::table))
    {
        for_columns<Row>([&](const auto& column) {
            data_sets_.push_back(h5::open_extendable(group_.get(), column.name));
        });
    }
    /// Creates an empty table in a file.
    explicit Table(hid_t file) : group_(h5::create_group(file, Row::table))
    {
        for_columns<Row>([&]<class T>(const Column<Row, T>& column) {
            auto made = h5::create_extendable<T>(group_.get(), column.name, 1024);
            if (column.unit[0] != '\0')
                h5::write_attribute(made.get(), "units", std::string(column.unit));
            data_sets_.push_back(std::move(made));
        });
        share_scale(data_sets_.front(), std::get<0>(Row::columns).name,
                    std::span(data_sets_).subspan(1));
    }

    /// Drops all but the first rows. @throws Failure if there are fewer
    void cut(std::int64_t rows)
    {
        for (const auto& data_set : data_sets_) h5::cut(data_set, rows);
    }

    /// Appends rows, column by column.
    void append(std::span<const Row> rows)
    {
        if (rows.empty()) return;
        auto data_set = data_sets_.begin();
        for_columns<Row>([&]<class T>(const Column<Row, T>& column) {
            std::vector<T> values;
            values.reserve(rows.size());
            for (const auto& row : rows) values.push_back(row.*column.field);
            h5::append<T>(*data_set++, values);
        });
    }

private:
    h5::Group group_;
    std::vector<h5::DataSet> data_sets_;
};

/// Reads all rows of a table. If columns differ in length, as in a copy of a trace that was made
/// while its run went on, only the rows that all columns have are returned.
template <class Row>
std::vector<Row> read_table(hid_t file)
{
    const std::string prefix = std::string(Row::table) + "/";
    std::int64_t count = -1;
    for_columns<Row>([&](const auto& column) {
        const auto length = h5::rows_of(file, prefix + column.name);
        count = count < 0 ? length : std::min(count, length);
    });
    std::vector<Row> rows(static_cast<std::size_t>(count));
    for_columns<Row>([&]<class T>(const Column<Row, T>& column) {
        const auto values = h5::read<T>(file, prefix + column.name, 0, count);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*column.field = values[i];
    });
    return rows;
}

}  // namespace quorate::trace
