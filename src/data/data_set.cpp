// SPDX-License-Identifier: BSD-2-Clause
#include "data/data_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"

namespace quorate {

DataSet::DataSet(const std::string& path, Unlabelled unlabelled)
    : path_(path), file_(h5::open(path))
{
    reading([&] {
        if (h5::find_string(file_.get(), "format") != "quorate data set")
            throw BadInput(
                path + " is not a data set: make one with 'quorate import' or 'quorate generate'");
        if (const auto version = h5::read_integer(file_.get(), "format_version"); version != 2)
            throw BadInput(
                fmt::format("{} has data set format {}, this program reads format 2: "
                            "import it again",
                            path, version));
        name_ = h5::read_string(file_.get(), "name");
        read_shape();
        ones_ = h5::read_integer(file_.get(), "ones") != 0;
        unlabelled_ = to_integer(h5::find_string(file_.get(), "unlabelled")).value_or(0);
        train_ = size_of("train");
        test_ = size_of("test");
        if (train_.rows > 0)
            shape_.entries_per_row =
                static_cast<double>(train_.entries) / static_cast<double>(train_.rows);
    });
    if (columns() < 1 || train_.rows < 1)
        throw BadInput(
            fmt::format("{} holds {} training rows of {} columns: a data set needs one of each",
                        path, train_.rows, columns()));
    if (unlabelled_ > 0 && unlabelled == Unlabelled::refused)
        throw BadInput(
            fmt::format("{} has {} rows without a label, which are good to predict with only: "
                        "import them with labels",
                        path, unlabelled_));
}

void DataSet::read_shape()
{
    shape_.columns = h5::read_integer(file_.get(), "columns");
    if (shape_.columns > std::numeric_limits<Index>::max())
        throw BadInput(fmt::format(
            "{} has {} columns, more than {}-bit indices can count: use a PETSc with 64-bit "
            "indices",
            path_, shape_.columns, 8 * sizeof(Index)));
    shape_.dense = h5::read_integer(file_.get(), "dense") != 0;
    shape_.classes = h5::read_integer(file_.get(), "classes");
    const auto task = h5::read_string(file_.get(), "task");
    for (const auto one :
         {LearningTask::binary, LearningTask::multiclass, LearningTask::regression})
        if (task == name_of(one)) shape_.task = one;
    if (task != name_of(shape_.task)) throw Failure("its task is " + task);
    if (shape_.task == LearningTask::multiclass &&
        (shape_.classes < 1 || shape_.classes > std::numeric_limits<std::int32_t>::max()))
        throw Failure(fmt::format("it has {} classes", shape_.classes));
    if (const auto image = h5::read_string(file_.get(), "image");
        !image.empty() && !shape_.set_image(image))
        throw Failure("its images are " + image);
}

DataSet::Size DataSet::size_of(const std::string& group) const
{
    if (!h5::has(file_.get(), group)) return {};
    Size size;
    const auto length_of = [&](const std::string& name) {
        const auto shape = h5::shape(file_.get(), group + "/" + name);
        if (shape.size() != 1) throw Failure(name + " of " + group + " is no vector");
        return shape[0];
    };
    size.rows = length_of("label");
    if (dense()) {
        const auto shape = h5::shape(file_.get(), group + "/values");
        if (shape != std::vector<std::int64_t>{size.rows, columns()})
            throw Failure("labels and values of " + group + " differ in number");
        size.entries = size.rows * columns();
    } else {
        if (length_of("row_start") != size.rows + 1)
            throw Failure("labels and rows of " + group + " differ in number");
        size.entries = length_of("column");
        if (!ones_ && length_of("value") != size.entries)
            throw Failure("columns and values of " + group + " differ in number");
        const auto last = h5::read<std::int64_t>(file_.get(), group + "/row_start", size.rows, 1);
        if (last[0] != size.entries)
            throw Failure("row_start of " + group + " does not end at its entries");
    }
    return size;
}

bool DataSet::is_label(double label) const
{
    if (std::isnan(label)) return unlabelled_ > 0;
    switch (shape_.task) {
        case LearningTask::binary: return label == 1 || label == -1;
        case LearningTask::multiclass:
            return label >= 0 && label < static_cast<double>(shape_.classes) &&
                   label == std::floor(label);
        case LearningTask::regression: break;
    }
    return std::isfinite(label);
}

std::vector<double> DataSet::read_labels(Split split, std::int64_t first, std::int64_t count) const
{
    auto labels = h5::read<double>(
        file_.get(), split == Split::train ? "train/label" : "test/label", first, count);
    for (const double label : labels)
        if (!is_label(label))
            throw BadInput(
                fmt::format("{} is damaged: {} is no label of a {} task; import it again", path_,
                            label, name_of(shape_.task)));
    return labels;
}

std::vector<double> DataSet::labels(Split split) const
{
    return reading([&] { return read_labels(split, 0, rows(split)); });
}

RawRows DataSet::read(Split split, std::int64_t first, std::int64_t count) const
{
    const std::string group = split == Split::train ? "train" : "test";
    return reading([&] {
        auto rows = structure(split, first, count);
        if (dense())
            rows.dense = h5::read_rows<double>(file_.get(), group + "/values", first, count);
        else if (!ones_)
            rows.value = h5::read<double>(file_.get(), group + "/value", first_entry(group, first),
                                          std::ssize(rows.column));
        return rows;
    });
}

RawRows DataSet::read_structure(Split split, std::int64_t first, std::int64_t count) const
{
    return reading([&] { return structure(split, first, count); });
}

void DataSet::read_values(Split split, std::int64_t first, std::int64_t count,
                          std::span<double> to) const
{
    const std::string group = split == Split::train ? "train" : "test";
    reading([&] {
        if (dense()) return h5::read_into(file_.get(), group + "/values", first, count, to);
        h5::read_into(file_.get(), group + "/value", first_entry(group, first), std::ssize(to), to);
    });
}

std::int64_t DataSet::first_entry(const std::string& group, std::int64_t row) const
{
    return h5::read<std::int64_t>(file_.get(), group + "/row_start", row, 1).front();
}

RawRows DataSet::structure(Split split, std::int64_t first, std::int64_t count) const
{
    const std::string group = split == Split::train ? "train" : "test";
    RawRows rows;
    rows.label = read_labels(split, first, count);
    if (dense()) return rows;
    rows.start = h5::read<std::int64_t>(file_.get(), group + "/row_start", first, count + 1);
    const auto from = rows.start.front();
    const auto entries = rows.start.back() - from;
    if (from < 0 || !std::ranges::is_sorted(rows.start) ||
        rows.start.back() > (split == Split::train ? train_ : test_).entries)
        throw BadInput(
            fmt::format("{} is damaged: its rows {} to {} do not begin one after the other; "
                        "import it again",
                        path_, first, first + count));
    if (entries > std::numeric_limits<Index>::max())
        throw BadInput(
            fmt::format("rows {} to {} of {} hold {} entries, more than this build's indices "
                        "can count: use more workers, or a PETSc with 64-bit indices",
                        first, first + count, path_, entries));
    for (auto& start : rows.start) start -= from;
    rows.column = h5::read<Index>(file_.get(), group + "/column", from, entries);
    for (const auto column : rows.column)
        if (column < 0 || column >= columns())
            throw BadInput(
                fmt::format("{} is damaged: it has an entry in column {} of {}; import it again",
                            path_, column, columns()));
    return rows;
}

std::vector<std::string> DataSet::names(const std::string& array, std::int64_t count) const
{
    if (!h5::has(file_.get(), array)) return {};
    auto names = h5::read_strings(file_.get(), array);
    if (std::ssize(names) != count)
        throw Failure(fmt::format("{} holds {} names for {}", array, names.size(), count));
    return names;
}

std::vector<std::string> DataSet::features() const
{
    return reading([&] { return names("feature/name", columns()); });
}

std::vector<std::pair<std::string, bool>> DataSet::source_columns() const
{
    return reading([&] {
        std::vector<std::pair<std::string, bool>> columns;
        if (!h5::has(file_.get(), "column/name")) return columns;
        const auto categorical = h5::read<std::int64_t>(file_.get(), "column/categorical");
        const auto all = names("column/name", std::ssize(categorical));
        for (std::size_t i = 0; i < all.size(); ++i)
            columns.emplace_back(all[i], categorical[i] != 0);
        return columns;
    });
}

std::vector<std::string> DataSet::class_names() const
{
    return reading([&]() -> std::vector<std::string> {
        if (shape_.task == LearningTask::regression) return {};
        const bool binary = shape_.task == LearningTask::binary;
        if (auto words = names("class/name", binary ? 2 : shape_.classes); !words.empty())
            return words;
        const auto values = h5::find_string(file_.get(), "class_values");
        if (!values.empty()) {
            auto words = split(values, ' ');
            if (std::ssize(words) != (binary ? 2 : shape_.classes))
                throw Failure(
                    fmt::format("it names {} classes of {}", words.size(), shape_.classes));
            return words;
        }
        if (binary) return {"-1", "1"};  // generated data
        std::vector<std::string> numbers;
        for (std::int64_t c = 0; c < shape_.classes; ++c) numbers.push_back(std::to_string(c));
        return numbers;
    });
}

std::pair<std::vector<double>, std::vector<double>> DataSet::scaling() const
{
    return reading([&]() -> std::pair<std::vector<double>, std::vector<double>> {
        if (!h5::has(file_.get(), "scaling/factor")) return {};
        auto factor = h5::read<double>(file_.get(), "scaling/factor");
        auto shift = h5::read<double>(file_.get(), "scaling/shift");
        if (factor.size() != shift.size())
            throw Failure(fmt::format("its scaling has {} factors and {} shifts", factor.size(),
                                      shift.size()));
        return {std::move(factor), std::move(shift)};
    });
}

std::vector<double> DataSet::means() const
{
    return reading([&]() -> std::vector<double> {
        if (!h5::has(file_.get(), "missing/mean")) return {};
        return h5::read<double>(file_.get(), "missing/mean");
    });
}

std::map<std::string, std::string> DataSet::attributes() const
{
    return reading([&] { return h5::attributes_as_text(file_.get()); });
}

}  // namespace quorate
