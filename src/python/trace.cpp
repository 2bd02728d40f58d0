// SPDX-License-Identifier: BSD-2-Clause
#include "python/trace.hpp"

#include <pybind11/stl.h>

#include <mutex>

#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"
#include "hdf5/libraries.hpp"
#include "python/arrays.hpp"
#include "python/running.hpp"
#include "python/text.hpp"
#include "trace/memory.hpp"
#include "trace/reader.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

using trace::Trace;

// Returns a table: its columns by name, each an array that looks into the rows.
// @param owner  the Trace object, which keeps the rows alive
template <class Row>
py::dict table(std::vector<Row>& rows, const py::object& owner)
{
    py::dict columns;
    const auto add = [&](const auto& column) {
        using Value = std::remove_reference_t<decltype(std::declval<Row&>().*column.field)>;
        static Row none{};
        Value* first = rows.empty() ? &(none.*column.field) : &(rows[0].*column.field);
        columns[column.name] = py::array_t<Value>({std::ssize(rows)}, {sizeof(Row)}, first, owner);
    };
    std::apply([&](const auto&... column) { (add(column), ...); }, Row::columns);
    return columns;
}

template <class Row>
py::dict units()
{
    py::dict all;
    std::apply([&](const auto&... column) { ((all[column.name] = column.unit), ...); },
               Row::columns);
    return all;
}

// Reads a trace as a run in memory gives it: with its final model, and with numbers as numbers.
Trace read_whole(const std::string& path)
{
    auto trace = trace::read(path);
    const std::lock_guard lock(libraries());
    const auto file = h5::open(path);
    for (const auto& name : h5::attribute_names(file.get())) {
        const h5::Attribute attribute(H5Aopen(file.get(), name.c_str(), H5P_DEFAULT),
                                      "open " + name);
        const h5::Type type(H5Aget_type(attribute.get()), "get the type of " + name);
        if (H5Tget_class(type.get()) == H5T_FLOAT)
            trace.header.real[name] = h5::read_double(file.get(), name);
        else if (H5Tget_class(type.get()) == H5T_INTEGER && name != "format_version")
            trace.header.integer[name] = h5::read_integer(file.get(), name);
    }
    if (h5::has(file.get(), "model/final"))
        trace.model = h5::read<double>(file.get(), "model/final");
    return trace;
}

}  // namespace

void add_trace(py::module_& module)
{
    py::class_<Trace, std::shared_ptr<Trace>> type(module, "Trace");
    type.def_property_readonly("attributes",
                               [](const Trace& trace) {
                                   py::dict all;
                                   for (const auto& [name, value] : trace.attributes)
                                       all[name.c_str()] = Text(value);
                                   for (const auto& [name, value] : trace.header.real)
                                       all[name.c_str()] = value;
                                   for (const auto& [name, value] : trace.header.integer)
                                       all[name.c_str()] = value;
                                   return all;
                               })
        .def("table",
             [](const py::object& self, const std::string& name) {
                 auto& trace = self.cast<Trace&>();
                 py::object found = py::none();
                 trace.for_each([&](auto& rows) {
                     if (name == trace::RowOf<decltype(rows)>::table) found = table(rows, self);
                 });
                 if (found.is_none()) throw py::key_error("a trace has no table " + name);
                 return found;
             })
        .def_property_readonly("model",
                               [](const py::object& self) {
                                   auto& trace = self.cast<Trace&>();
                                   return py::array_t<double>(std::ssize(trace.model),
                                                              trace.model.data(), self);
                               })
        .def("faults",
             [](const Trace& trace) {
                 const auto faults = trace::faults(trace);
                 return std::vector<Text>(faults.begin(), faults.end());
             })
        .def("save", [](const Trace& trace, const Text& path) {
            const py::gil_scoped_release release;
            trace::save(trace, path);
        });
    module.def("read_trace", [](const Text& path) {
        const py::gil_scoped_release release;
        return std::make_shared<Trace>(read_whole(path));
    });
    py::dict all;
    Trace().for_each([&]<class Row>(const std::vector<Row>&) { all[Row::table] = units<Row>(); });
    module.attr("units") = all;
}

}  // namespace quorate::bindings
