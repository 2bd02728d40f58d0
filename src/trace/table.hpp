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

/// Appends rows to a table of an open file.
class Table {
public:
    /// Creates an empty table for rows of this type.
    template <class Row>
    static Table create(hid_t file)
    {
        Table made(h5::create_group(file, Row::table));
        for_columns<Row>([&]<class T>(const Column<Row, T>& column) {
            auto values = h5::create_extendable<T>(made.group_.get(), column.name, 1024);
            if (column.unit[0] != '\0')
                h5::write_attribute(values.get(), "units", std::string(column.unit));
            made.columns_.push_back(std::move(values));
        });
        share_scale(made.columns_.front(), std::get<0>(Row::columns).name,
                    std::span(made.columns_).subspan(1));
        return made;
    }
    /// Opens the table that the file has for rows of this type.
    template <class Row>
    static Table open(hid_t file)
    {
        Table found(h5::open_group(file, Row::table));
        for_columns<Row>([&](const auto& column) {
            found.columns_.push_back(h5::open_extendable(found.group_.get(), column.name));
        });
        return found;
    }

    /// Drops all but the first rows. @throws Failure if there are fewer
    void cut(std::int64_t rows)
    {
        for (const auto& column : columns_) h5::cut(column, rows);
    }

    /// Appends rows of its type, column by column.
    template <class Row>
    void append(const std::vector<Row>& rows)
    {
        if (rows.empty()) return;
        auto to = columns_.begin();
        for_columns<Row>([&]<class T>(const Column<Row, T>& column) {
            std::vector<T> values;
            values.reserve(rows.size());
            for (const auto& row : rows) values.push_back(row.*column.field);
            h5::append<T>(*to++, values);
        });
    }

private:
    explicit Table(h5::Group group) : group_(std::move(group)) {}

    h5::Group group_;
    std::vector<h5::DataSet> columns_;
};

/// Reads the rows of a table, from row `first` on. If columns differ in length, as in a copy of a
/// trace that was made while its run went on, only the rows that all columns have are returned.
template <class Row>
std::vector<Row> read_table(hid_t file, std::int64_t first = 0)
{
    const std::string prefix = std::string(Row::table) + "/";
    std::int64_t count = -1;
    for_columns<Row>([&](const auto& column) {
        const auto length = h5::rows_of(file, prefix + column.name);
        count = count < 0 ? length : std::min(count, length);
    });
    count = std::max<std::int64_t>(0, count - first);
    std::vector<Row> rows(static_cast<std::size_t>(count));
    for_columns<Row>([&]<class T>(const Column<Row, T>& column) {
        const auto values = h5::read<T>(file, prefix + column.name, first, count);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*column.field = values[i];
    });
    return rows;
}

}  // namespace quorate::trace
