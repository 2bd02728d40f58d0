// SPDX-License-Identifier: BSD-2-Clause
// Reads HDF5 files of other programs, which hold dense arrays under names that the user gives.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "hdf5/data_sets.hpp"
#include "hdf5/names.hpp"
#include "tables/dense_rows.hpp"
#include "tables/formats.hpp"

namespace quorate {

namespace {

// Checks that there is such an array. @return its shape
std::vector<std::int64_t> require(const h5::File& file, const std::string& path,
                                  const Settings& settings, const std::string& option)
{
    const auto& name = settings.text(option);
    if (const auto fault = h5::fault_of_array(file, path, name); !fault.empty())
        settings.refuse(option, fault);
    return h5::shape(file.get(), name);
}

// Reads labels, numbers or words.
// @param array  that holds them, as messages call it
GivenLabels labels_of(const h5::File& file, const std::string& name, const std::string& array,
                      const std::vector<std::int64_t>& shape)
{
    check_label_shape(array, shape);
    if (h5::elements_of(file, name) == h5::Elements::words)
        return {{}, h5::read_strings(file.get(), name)};
    auto labels = shape.size() == 1 ? h5::read<double>(file.get(), name)
                                    : h5::read_rows<double>(file.get(), name, 0, shape[0]);
    if (std::ranges::any_of(labels, [](double label) { return std::isinf(label); }))
        throw BadInput(array + " holds an infinite label: give finite numbers");
    return {std::move(labels), {}};
}

void read_rows(const h5::File& file, const std::string& path, const Settings& settings,
               RawTable& table)
{
    constexpr std::int64_t at_once = 1 << 16;  // elements
    const auto& name = settings.text("array");
    const auto shape = require(file, path, settings, "array");
    if (h5::elements_of(file, name) == h5::Elements::words)
        settings.refuse("array", fmt::format(", but {} of {} holds words where numbers are needed",
                                             shown(name), path));
    const auto what = [&](const std::string& array) {
        return fmt::format("{}: array {}", path, shown(array));
    };
    DenseRows dense(settings, path, what(name), shape, table);
    const auto& label = settings.text("label");
    if (!label.empty() && !(labels_are_optional(settings) && !h5::has(file.get(), label))) {
        const auto its_shape = require(file, path, settings, "label");
        dense.set_labels(labels_of(file, label, what(label), its_shape), what(label));
    }
    const auto size = std::max<std::int64_t>(1, at_once / dense.width());
    for (std::int64_t first = 0; first < dense.rows(); first += size) {
        auto values =
            h5::read_rows<double>(file.get(), name, first, std::min(size, dense.rows() - first));
        if (!dense.add(values)) return;
    }
}

void read_hdf5_arrays(const Settings& settings, const std::string& path, const Reading&,
                      RawTable& table)
{
    const auto file = h5::open(path);
    if (!settings.on("array"))
        throw BadInput(
            "HDF5 input needs --array NAME, a dense array; of CSR arrays make a data set in "
            "Python: quorate.dataset(scipy.sparse.csr_matrix((value, column, start)), y, "
            "path=...)");
    h5::reading(path, "make it again", [&] { read_rows(file, path, settings, table); });
}

}  // namespace

Entry<Format> hdf5_entry()
{
    return {.name = "hdf5",
            .text = "dense arrays in an HDF5 file, by their names",
            .options = array_options(),
            .make = {read_hdf5_arrays, [](const std::string& bytes) {
                         return bytes.starts_with("\x89HDF\r\n\x1a\n");
                     }}};
}

}  // namespace quorate
