// SPDX-License-Identifier: BSD-2-Clause
#include "quorate/data.hpp"

#include <algorithm>
#include <mutex>

#include "base/error.hpp"
#include "hdf5/libraries.hpp"
#include "process/session.hpp"
#include "quorate/given.hpp"

namespace quorate {

inline namespace QUORATE_ABI {

Data::Data(const LabelledRows& train, const LabelledRows& test, const DataOptions& options)
{
    check_rows(train, "training");
    const bool dense = std::holds_alternative<DenseMatrix>(train.rows),
               tests = !test.labels.empty();
    if (train.labels.empty()) throw BadInput("there are no training rows: give some");
    if (tests || !values_of(test.rows).empty()) check_rows(test, "test");
    if (tests && (test.rows.index() != train.rows.index() ||
                  columns_of(test.rows) != columns_of(train.rows)))
        throw BadInput(
            "the test rows are of another kind than the training rows, or have other "
            "columns: give both dense or both sparse, with the same columns");
    std::vector<double> given(train.labels.begin(), train.labels.end());
    given.insert(given.end(), test.labels.begin(), test.labels.end());
    const auto labels = stored_labels(given, std::ssize(train.labels), options);
    auto shape = shape_of(options, columns_of(train.rows), dense);
    shape.task = labels.task;
    shape.classes = std::ssize(labels.class_names);
    const auto is_one = [](double value) { return value == 1; };
    const bool ones = !dense && std::ranges::all_of(values_of(train.rows), is_one) &&
                      std::ranges::all_of(values_of(test.rows), is_one);
    start_mpi();  // PETSc multiplies to measure the curvature
    const auto file = std::make_shared<TemporaryData>();
    const std::lock_guard lock(libraries());
    DataSetWriter writer(file->path(), options.name, shape, ones, false);
    const auto stored = std::span(labels.value);
    writer.begin(Split::train);
    add_rows(train.rows, stored.first(train.labels.size()), writer);
    writer.begin(Split::test);
    if (tests) add_rows(test.rows, stored.subspan(train.labels.size()), writer);
    finish(writer, labels);
    file_ = file;
}

Data::Data(std::shared_ptr<const TemporaryData> file) : file_(std::move(file)) {}

const std::string& Data::path() const { return file_->path(); }

}  // namespace QUORATE_ABI

}  // namespace quorate
