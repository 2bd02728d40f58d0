// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/data_set.hpp"

namespace quorate {

/// What a data set file says of itself, beside its rows.
using Provenance = std::map<std::string, std::string>;

/// Writes a data set row by row, under a temporary name until it is complete and on disk. Memory: a
/// megabyte or two. Local. @throws Failure
class DataSetWriter {
public:
    /// @param shape    without entries_per_row
    /// @param ones     sparse: all values are one, and are not stored
    /// @param float32  values are stored so
    DataSetWriter(const std::string& path, const std::string& name, const DataShape& shape,
                  bool ones, bool float32);
    DataSetWriter(const DataSetWriter&) = delete;
    DataSetWriter& operator=(const DataSetWriter&) = delete;
    /// Without finish(), nothing is left.
    ~DataSetWriter();

    /// The rows that follow are of this split: first train, then test.
    void begin(Split split);
    /// @param entries  by column, ascending
    void add(std::span<const std::pair<std::int64_t, double>> entries, double label);
    /// @param values  of all columns
    void add(std::span<const double> values, double label);
    std::int64_t entries() const { return entries_; }

    /// How numbers were scaled, for data that are to be like these.
    void write_scaling(std::span<const double> factor, std::span<const double> shift);
    /// @param features  names of the columns; may be none
    void finish(const std::vector<std::string>& features, const Provenance& provenance);

private:
    struct Arrays {
        h5::DataSet start, column, value, label;
    };
    void create(Split split);
    void flush();
    void append_values();
    std::int64_t rows_in_chunk() const;  // of dense rows

    std::string path_, temporary_;
    h5::File file_;
    DataShape shape_;
    bool ones_, float32_;
    std::int64_t entries_ = 0, split_entries_ = 0;
    Arrays arrays_;
    bool began_ = false;
    std::vector<std::int64_t> start_, column_;
    std::vector<double> value_, label_;
};

}  // namespace quorate
