// SPDX-License-Identifier: BSD-2-Clause
#include "python/data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "data/data_set_writer.hpp"
#include "hdf5/libraries.hpp"
#include "process/session.hpp"
#include "python/arrays.hpp"
#include "python/text.hpp"
#include "tables/label_map.hpp"
#include "tables/missing.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

using Values = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Indices = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

LearningTask task_of(const std::string& name)
{
    for (const auto task :
         {LearningTask::binary, LearningTask::multiclass, LearningTask::regression})
        if (name_of(task) == name) return task;
    throw BadInput("the task is '" + name + "': use binary, multiclass or regression");
}

void check_finite(std::span<const double> values, const std::string& what)
{
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw BadInput(
                fmt::format("{} hold {} at element {}: give finite numbers", what, values[i], i));
}

std::span<const double> span_of(const Values& values)
{
    return {values.data(), static_cast<std::size_t>(values.size())};
}

// The rows of one split, as Python gives them.
class GivenRows {
public:
    // @param labelled  whether labels are there; else they are NaN
    GivenRows(const py::tuple& given, std::int64_t columns, const std::string& split, bool labelled)
        : dense_(given.size() == 2), values_(given[0].cast<Values>()),
          labels_(given[given.size() - 1].cast<Values>())
    {
        check_finite(span_of(values_), "the " + split + " rows");
        if (labelled) check_finite(span_of(labels_), "the " + split + " labels");
        if (dense_) {
            if (values_.ndim() != 2 || values_.shape(0) != labels_.size())
                throw BadInput(
                    fmt::format("the {} rows are no matrix with a row for each of {} "
                                "labels: give X of n x p and y of n",
                                split, labels_.size()));
            return;
        }
        column_ = given[1].cast<Indices>();
        start_ = given[2].cast<Indices>();
        if (start_.size() != labels_.size() + 1)
            throw BadInput(fmt::format("the {} rows are {}, but there are {} labels", split,
                                       start_.size() - 1, labels_.size()));
        check_entries(columns, split);
    }

    std::int64_t count() const { return labels_.size(); }

    void write(DataSetWriter& writer, Split split) const
    {
        writer.begin(split);
        const auto rows = static_cast<std::size_t>(labels_.size());
        if (dense_) {
            const auto columns = static_cast<std::size_t>(values_.shape(1));
            for (std::size_t i = 0; i < rows; ++i)
                writer.add(span_of(values_).subspan(i * columns, columns), labels_.data()[i]);
            return;
        }
        std::vector<std::pair<std::int64_t, double>> entries;
        for (std::size_t i = 0; i < rows; ++i) {
            entries.clear();
            for (auto at = start_.data()[i]; at < start_.data()[i + 1]; ++at)
                entries.emplace_back(column_.data()[at], values_.data()[at]);
            writer.add(entries, labels_.data()[i]);
        }
    }

private:
    // Refuses a sparse matrix whose arrays contradict each other. @throws BadInput
    void check_entries(std::int64_t columns, const std::string& split) const
    {
        const std::span<const std::int64_t> start(start_.data(),
                                                  static_cast<std::size_t>(start_.size()));
        const std::span<const std::int64_t> column(column_.data(),
                                                   static_cast<std::size_t>(column_.size()));
        bool fits =
            start[0] == 0 && std::ranges::is_sorted(start) && start.back() == values_.size() &&
            column_.size() == values_.size() &&
            std::ranges::all_of(column, [&](std::int64_t c) { return c >= 0 && c < columns; });
        for (std::size_t i = 0; fits && i + 1 < start.size(); ++i)
            fits = std::is_sorted(column.begin() + start[i], column.begin() + start[i + 1],
                                  std::less_equal{});
        if (!fits)
            throw BadInput("the " + split +
                           " rows are no sparse matrix of that shape: its arrays contradict it");
    }

    bool dense_;
    Values values_, labels_;
    Indices column_, start_;
};

// @param class_names  of labels that are classes; empty: their numbers from 0
// @param names        of the columns; empty: they have none
// @param labelled     whether rows have labels; those without, NaN, are good to predict with only
void write(const Text& path, const Text& name, std::int64_t columns, const std::string& task,
           std::int64_t classes, const std::vector<Text>& class_names,
           const std::vector<Text>& names, const std::string& image, bool ones,
           const py::tuple& train, const py::tuple& test, bool labelled)
{
    if (columns < 1) throw BadInput("the rows have no columns: give X of n x p");
    DataShape shape{.columns = columns, .task = task_of(task), .classes = classes};
    shape.dense = train.size() == 2;
    if (!image.empty() && !shape.set_image(image))
        throw BadInput(fmt::format("rows are to be images of {}, but have {} columns: write CxHxW",
                                   image, columns));
    const GivenRows train_rows(train, columns, labelled ? "training" : "given", labelled);
    const GivenRows test_rows(test, columns, "test", labelled);
    const py::gil_scoped_release release;
    start_mpi();  // PETSc measures the curvature
    const std::lock_guard lock(libraries());
    DataSetWriter writer(path, name, shape, ones, false);
    train_rows.write(writer, Split::train);
    test_rows.write(writer, Split::test);
    const std::vector<std::string> features(names.begin(), names.end());
    if (!features.empty())
        writer.write_columns(features, std::vector<std::int64_t>(features.size(), 0));
    Provenance provenance = {{"command_line", "quorate.dataset()"},
                             {"quorate_version", version},
                             {"options", ""},
                             {"sources", ""},
                             {"sha256", ""}};
    // Of classes as import writes them: words, or numbers.
    if (!std::ranges::all_of(class_names, [](const auto& one) { return to_real(one).has_value(); }))
        writer.write_classes({class_names.begin(), class_names.end()});
    else if (!class_names.empty())
        provenance["class_values"] = fmt::format("{}", fmt::join(class_names, " "));
    if (!labelled)
        provenance["unlabelled"] = std::to_string(train_rows.count() + test_rows.count());
    writer.finish(features, provenance);
}

// Returns a label as import writes it, and its number if it is one. None: it is missing.
std::optional<std::pair<Text, std::optional<double>>> read_label(const Text& given)
{
    const auto label = trimmed(given);
    if (is_missing(label)) return std::nullopt;
    return std::pair(Text(label_text(label)), to_real(label));
}

// Hands a vector over to an array.
template <class T>
py::array_t<T> given(std::vector<T> values, std::vector<py::ssize_t> shape = {})
{
    return shared(std::make_shared<std::vector<T>>(std::move(values)), std::move(shape));
}

// Returns the rows of a split: (values, labels), or (values, columns, starts, labels) if sparse.
py::tuple read(const Text& path, const std::string& split)
{
    RawRows raw;
    bool dense = false;
    std::int64_t columns = 0;
    {
        const py::gil_scoped_release release;
        const DataSet data(path, Unlabelled::accepted);
        dense = data.dense();
        columns = data.columns();
        const auto which = split == "test" ? Split::test : Split::train;
        raw = data.read(which, 0, data.rows(which));
        if (!dense && raw.value.empty()) raw.value.assign(raw.column.size(), 1.0);
    }
    const auto rows = std::ssize(raw.label);
    if (dense)
        return py::make_tuple(given(std::move(raw.dense), {rows, columns}),
                              given(std::move(raw.label)));
    return py::make_tuple(given(std::move(raw.value)), given(std::move(raw.column)),
                          given(std::move(raw.start)), given(std::move(raw.label)));
}

}  // namespace

void add_data(py::module_& module)
{
    module.attr("version") = version;
    module.attr("built_with") = built_with;
    module.def("write_data", &write);
    module.def("read_data", &read);
    module.def("read_label", &read_label);
    module.def("data_names", [](const Text& path) {
        const py::gil_scoped_release release;
        const DataSet data(path, Unlabelled::accepted);
        const auto features = data.features(), classes = data.class_names();
        return std::pair(std::vector<Text>(features.begin(), features.end()),
                         std::vector<Text>(classes.begin(), classes.end()));
    });
    module.def("data_attributes", [](const Text& path) {
        const py::gil_scoped_release release;
        const auto all = DataSet(path, Unlabelled::accepted).attributes();
        return std::map<std::string, Text>(all.begin(), all.end());
    });
    module.def("data_rows", [](const Text& path) {
        const py::gil_scoped_release release;
        const DataSet data(path, Unlabelled::accepted);
        return std::pair(data.rows(Split::train), data.rows(Split::test));
    });
}

}  // namespace quorate::bindings
