// SPDX-License-Identifier: BSD-2-Clause
#include "python/data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <algorithm>
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
#include "quorate/given.hpp"
#include "tables/label_map.hpp"
#include "tables/missing.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

using Values = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Places = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

LearningTask task_of(const std::string& name)
{
    for (const auto task :
         {LearningTask::binary, LearningTask::multiclass, LearningTask::regression})
        if (name_of(task) == name) return task;
    throw BadInput("the task is '" + name + "': use binary, multiclass or regression");
}

std::span<const double> span_of(const Values& values)
{
    return {values.data(), static_cast<std::size_t>(values.size())};
}

std::span<const std::int64_t> span_of(const Places& places)
{
    return {places.data(), static_cast<std::size_t>(places.size())};
}

// The rows of one split, as Python gives them: (values, labels), or (values, columns, starts,
// labels) if sparse.
class GivenRows {
public:
    // @param labelled  whether labels are there; else they are NaN
    GivenRows(const py::tuple& given, std::int64_t columns, const std::string& split, bool labelled)
        : values_(given[0].cast<Values>()), labels_(given[given.size() - 1].cast<Values>())
    {
        if (given.size() == 2) {
            rows_.rows = DenseMatrix{span_of(values_), columns};
        } else {
            column_ = given[1].cast<Places>();
            start_ = given[2].cast<Places>();
            rows_.rows = CsrMatrix{span_of(start_), span_of(column_), span_of(values_), columns};
        }
        rows_.labels = span_of(labels_);
        check_rows(rows_, split, labelled);
    }

    std::int64_t count() const { return labels_.size(); }
    void write(DataSetWriter& writer, Split split) const
    {
        writer.begin(split);
        add_rows(rows_.rows, rows_.labels, writer);
    }

private:
    Values values_, labels_;
    Places column_, start_;
    LabelledRows rows_;
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
    auto shape = shape_of({.image = image}, columns, train.size() == 2);
    shape.task = task_of(task);
    shape.classes = classes;
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
