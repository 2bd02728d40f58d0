// SPDX-License-Identifier: BSD-2-Clause
// What data sets are made of that programs give: checks of arrays, and the file.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/data_set_writer.hpp"
#include "model/data_shape.hpp"
#include "quorate/arrays.hpp"
#include "tables/labels.hpp"

namespace quorate {

/// Refuses rows whose arrays contradict each other or hold what is no finite number.
/// @param split  "training" or "test", for the message
/// @param labelled  whether labels must be finite  @throws BadInput
void check_rows(const LabelledRows& given, const std::string& split, bool labelled = true);

/// Adds rows to a split that has begun, with these labels.
void add_rows(const AnyMatrix& rows, std::span<const double> labels, DataSetWriter& writer);

/// The values of rows, those that are stored.
std::span<const double> values_of(const AnyMatrix& rows);

/// The columns of rows.
std::int64_t columns_of(const AnyMatrix& rows);

/// Returns the shape of rows as the options describe them. @throws BadInput if no image is of it
DataShape shape_of(const DataOptions& options, std::int64_t columns, bool dense);

/// Returns labels as data sets store them.
/// @param given  of the training rows, then of the test rows  @param train  how many are the former
/// @throws BadInput as map_labels()
Labels stored_labels(const std::vector<double>& given, std::int64_t train,
                     const DataOptions& options);

/// Adds the last attributes, and puts the file into place.
void finish(DataSetWriter& writer, const Labels& labels);

inline namespace QUORATE_ABI {

/// A folder below that for temporary files with a data set in it. The process that made it removes
/// it.
class TemporaryData {
public:
    /// Makes the folder. @throws BadInput as temporary_folder()  @throws Failure
    TemporaryData();
    TemporaryData(const TemporaryData&) = delete;
    TemporaryData& operator=(const TemporaryData&) = delete;
    ~TemporaryData();
    const std::string& path() const { return path_; }

private:
    std::filesystem::path folder_;
    std::string path_;
    int owner_;
};

}  // namespace QUORATE_ABI

}  // namespace quorate
