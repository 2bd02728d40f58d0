// SPDX-License-Identifier: BSD-2-Clause
#include "data/data_set_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/path.hpp"
#include "data/curvature.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"

namespace quorate {

namespace {

constexpr std::int64_t chunk = 1 << 14;     // elements; no array in the file is smaller
constexpr std::int64_t buffer = 8 * chunk;  // elements that are written at a time

std::string image_of(const DataShape& shape)
{
    return shape.image() ? fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width) : "";
}

// Returns what is wrong with a number that does not fit, and the remedy.
std::string misfit(double value)
{
    if (!std::isfinite(value)) return fmt::format("{} is no finite number", value);
    return fmt::format("{:g} is too {} for single precision: leave out --float32, or scale it",
                       value, std::abs(value) > 1 ? "large" : "small");
}

// Stores in a data set what curvature_of() reads. An empty one has none: who reads it refuses it.
void store_curvature(const std::string& path)
{
    // Less than runs hold: it adds to the memory of the program that writes.
    constexpr double held_bytes = 1 << 25;
    Curvature curvature{};
    try {
        curvature = measured_curvature(DataSet(path), held_bytes);
    } catch (const BadInput&) {
        return;
    }
    auto file = h5::open_to_append(path);
    h5::write_attribute(file.get(), "eigenvalue", curvature.eigenvalue);
    h5::write_attribute(file.get(), "row_square", curvature.row_square);
    file.close("close " + path);
}

}  // namespace

Misfit::Misfit(double value, std::optional<std::int64_t> column, std::int64_t row)
    : BadInput(fmt::format("row {}, {}: {}", row + 1,
                           column ? fmt::format("column {}", *column + 1) : "label",
                           misfit(value))),
      reason_(misfit(value)), column_(column)
{
}

DataSetWriter::DataSetWriter(const std::string& path, const std::string& name,
                             const DataShape& shape, bool ones, bool float32)
    : path_(path), temporary_(temporary_name(path)), file_(h5::create(temporary_)), shape_(shape),
      ones_(ones && !shape.dense), float32_(float32)
{
    const auto file = file_.get();
    h5::write_attribute(file, "format", std::string("quorate data set"));
    h5::write_attribute(file, "format_version", std::int64_t{2});
    h5::write_attribute(file, "name", name);
    h5::write_attribute(file, "columns", shape.columns);
    h5::write_attribute(file, "dense", std::int64_t{shape.dense});
    h5::write_attribute(file, "ones", std::int64_t{ones_});
    h5::write_attribute(file, "task", name_of(shape.task));
    h5::write_attribute(file, "classes",
                        shape.task == LearningTask::regression ? 0 : shape.classes);
    h5::write_attribute(file, "image", image_of(shape));
}

DataSetWriter::~DataSetWriter()
{
    arrays_ = {};
    file_ = {};
    if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void DataSetWriter::begin(Split split)
{
    if (arrays_.label) flush();
    create(split);
    split_entries_ = split_rows_ = 0;
    start_ = {0};
}

void DataSetWriter::create(Split split)
{
    split_ = split == Split::train ? "train" : "test";
    const auto group = h5::create_group(file_.get(), split_);
    const auto numbers = [&](const char* name) {
        return h5::create_extendable<std::int64_t>(group.get(), name, chunk, 0, false);
    };
    const auto values = [&](const char* name, std::int64_t rows, std::int64_t width) {
        return float32_ ? h5::create_extendable<float>(group.get(), name, rows, width, false)
                        : h5::create_extendable<double>(group.get(), name, rows, width, false);
    };
    arrays_ = {};
    if (shape_.dense) {
        arrays_.value = values("values", rows_in_chunk(), shape_.columns);
    } else {
        arrays_.start = numbers("row_start");
        arrays_.column = numbers("column");
        if (!ones_) arrays_.value = values("value", chunk, 0);
    }
    arrays_.label = h5::create_extendable<double>(group.get(), "label", chunk, 0, false);
}

void DataSetWriter::check(double value, std::int64_t column) const
{
    const auto narrow = static_cast<float>(value);
    if (!std::isfinite(value) ||
        (float32_ && (!std::isfinite(narrow) || (narrow == 0 && value != 0))))
        throw Misfit(value, column, split_rows_);
}

// Rows without label have NaN.
void DataSetWriter::add_label(double label)
{
    if (std::isinf(label)) throw Misfit(label, std::nullopt, split_rows_);
    label_.push_back(label);
    ++split_rows_;
}

void DataSetWriter::add(std::span<const std::pair<std::int64_t, double>> entries, double label)
{
    for (const auto& [column, value] : entries) {
        check(value, column);
        column_.push_back(column);
        if (!ones_) value_.push_back(value);
    }
    split_entries_ += std::ssize(entries);
    entries_ += std::ssize(entries);
    start_.push_back(split_entries_);
    add_label(label);
    if (std::ssize(column_) >= buffer || std::ssize(label_) >= buffer) flush();
}

void DataSetWriter::add(std::span<const double> values, double label)
{
    for (std::size_t column = 0; column < values.size(); ++column)
        check(values[column], static_cast<std::int64_t>(column));
    value_.insert(value_.end(), values.begin(), values.end());
    entries_ += std::ssize(values);
    add_label(label);
    if (std::ssize(label_) == 8 * rows_in_chunk()) flush();
}

std::int64_t DataSetWriter::rows_in_chunk() const
{
    return std::max<std::int64_t>(1, chunk / shape_.columns);
}

template <class T>
void DataSetWriter::append(const h5::DataSet& array, const char* name,
                           const std::vector<T>& numbers)
{
    h5::append<T>(array, numbers);
    digests_[split_ + "/" + name].add(numbers);
}

void DataSetWriter::append_values()
{
    const auto* name = shape_.dense ? "values" : "value";
    if (float32_)
        append(arrays_.value, name, std::vector<float>(value_.begin(), value_.end()));
    else
        append(arrays_.value, name, value_);
}

void DataSetWriter::flush()
{
    if (!shape_.dense) {
        append(arrays_.start, "row_start", start_);
        append(arrays_.column, "column", column_);
    }
    if (!value_.empty()) append_values();
    append(arrays_.label, "label", label_);
    start_.clear();
    column_.clear();
    value_.clear();
    label_.clear();
}

void DataSetWriter::digest(const std::string& name, const std::vector<std::string>& names)
{
    auto& all = digests_[name];
    for (const auto& one : names) all.add(one + '\0');
}

void DataSetWriter::write_scaling(std::span<const double> factor, std::span<const double> shift)
{
    const auto group = h5::create_group(file_.get(), "scaling");
    h5::write<double>(group.get(), "factor", factor);
    h5::write<double>(group.get(), "shift", shift);
    digests_["scaling/factor"].add(factor);
    digests_["scaling/shift"].add(shift);
}

void DataSetWriter::write_means(std::span<const double> means)
{
    const auto group = h5::create_group(file_.get(), "missing");
    h5::write<double>(group.get(), "mean", means);
    digests_["missing/mean"].add(means);
}

void DataSetWriter::write_columns(const std::vector<std::string>& names,
                                  const std::vector<std::int64_t>& categorical)
{
    const auto group = h5::create_group(file_.get(), "column");
    h5::write_strings(group.get(), "name", names);
    h5::write<std::int64_t>(group.get(), "categorical", categorical);
    digest("column/name", names);
    digests_["column/categorical"].add(categorical);
}

void DataSetWriter::write_classes(const std::vector<std::string>& names)
{
    const auto group = h5::create_group(file_.get(), "class");
    h5::write_strings(group.get(), "name", names);
    digest("class/name", names);
}

// Returns the SHA-256 of what the file holds, whatever its name is and wherever it came from.
std::string DataSetWriter::content()
{
    Sha256 all;
    all.add(fmt::format("columns={} dense={:d} ones={:d} task={} classes={} image={}\n",
                        shape_.columns, shape_.dense, ones_, name_of(shape_.task), shape_.classes,
                        image_of(shape_)));
    for (auto& [name, one] : digests_) all.add(fmt::format("{}={}\n", name, one.text()));
    return all.text();
}

void DataSetWriter::finish(const std::vector<std::string>& features, const Provenance& provenance)
{
    flush();
    arrays_ = {};
    if (!features.empty()) {
        const auto group = h5::create_group(file_.get(), "feature");
        h5::write_strings(group.get(), "name", features);
        digest("feature/name", features);
    }
    if (const auto values = provenance.find("class_values"); values != provenance.end())
        digest("class_values", {values->second});
    h5::write_attribute(file_.get(), "content_sha256", content());
    for (const auto& [key, value] : provenance) h5::write_attribute(file_.get(), key, value);
    file_.close("close " + temporary_);
    store_curvature(temporary_);
    move_into_place(temporary_, path_);
    temporary_.clear();
}

}  // namespace quorate
