// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "data/data_set.hpp"

namespace quorate {

/// A number that a data set cannot hold: it is not finite, or is not in single precision.
class Misfit : public BadInput {
public:
    /// @param column  of the data set; nothing: the number is a label
    /// @param row     of the split, from 0
    Misfit(double value, std::optional<std::int64_t> column, std::int64_t row);

    /// What is wrong with the number, and the remedy, without the place.
    const std::string& reason() const { return reason_; }
    std::optional<std::int64_t> column() const { return column_; }

private:
    std::string reason_;
    std::optional<std::int64_t> column_;
};

/// Attributes that tell where a data set comes from, by name: command line, version, sources,
/// options.
using Provenance = std::map<std::string, std::string>;

/// Writes a data set row by row. The file has a temporary name until it is complete. Takes a
/// megabyte or two of memory while rows are added; finish() measures the curvature (curvature.hpp),
/// and holds the training rows if they take 32 MB at most, else matrices of about a million entries
/// one by one, and two vectors of all columns. Local. All functions throw Failure if HDF5 or the
/// file system fails. No number is stored that is infinite, or becomes so or zero in single
/// precision: add() throws Misfit then.
///
/// The order of calls: begin(train), rows, begin(test), rows, and finish().
class DataSetWriter {
public:
    /// @param path     the file to make or replace; finish() puts it there
    /// @param name     of the data set
    /// @param shape    entries_per_row is not used
    /// @param ones     all values are one and are not stored; ignored if dense
    /// @param float32  store values in single precision
    DataSetWriter(const std::string& path, const std::string& name, const DataShape& shape,
                  bool ones, bool float32);
    DataSetWriter(const DataSetWriter&) = delete;
    DataSetWriter& operator=(const DataSetWriter&) = delete;
    /// Removes the temporary file, unless finish() has been called.
    ~DataSetWriter();

    /// Begins a split. The rows that are added next belong to it.
    void begin(Split split);
    /// Adds a sparse row. @param entries  column and value, ascending by column
    void add(std::span<const std::pair<std::int64_t, double>> entries, double label);
    /// Adds a dense row. @param values  of all columns
    void add(std::span<const double> values, double label);
    /// Entries of all rows so far.
    std::int64_t entries() const { return entries_; }

    /// Stores how the columns of the imported file were scaled, so that other files can be imported
    /// likewise (DataSet::scaling).
    void write_scaling(std::span<const double> factor, std::span<const double> shift);
    /// Stores what stands for missing numbers of these columns (DataSet::means).
    void write_means(std::span<const double> means);
    /// Stores the columns of the imported file (DataSet::source_columns).
    void write_columns(const std::vector<std::string>& names,
                       const std::vector<std::int64_t>& categorical);
    /// Stores the names of the classes, by number (DataSet::class_names).
    void write_classes(const std::vector<std::string>& names);
    /// Writes what is left, and moves the file into place.
    /// @param features  names of the columns; empty: they have none
    void finish(const std::vector<std::string>& features, const Provenance& provenance);

private:
    struct Arrays {
        h5::DataSet start, column, value, label;
    };
    void create(Split split);
    void flush();
    // Adds numbers to an array of the split.
    template <class T>
    void append(const h5::DataSet& array, const char* name, const std::vector<T>& numbers);
    void append_values();
    void digest(const std::string& name, const std::vector<std::string>& names);
    std::string content();
    void check(double value, std::int64_t column) const;
    void add_label(double label);
    std::int64_t rows_in_chunk() const;  // dense rows in a chunk of the file

    std::string path_, temporary_;
    h5::File file_;
    DataShape shape_;
    bool ones_, float32_;
    std::int64_t entries_ = 0, split_entries_ = 0, split_rows_ = 0;
    std::string split_;  // the group that rows are added to
    std::map<std::string, Sha256>
        digests_;  // of each array, so that it does not matter when rows are flushed
    Arrays arrays_;
    std::vector<std::int64_t> start_, column_;
    std::vector<double> value_, label_;
};

}  // namespace quorate
