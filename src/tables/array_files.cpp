// SPDX-License-Identifier: BSD-2-Clause
// Files of arrays: .npy and .npz of NumPy, and IDX.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "tables/array_reader.hpp"
#include "tables/dense_rows.hpp"
#include "tables/formats.hpp"
#include "tables/missing.hpp"

namespace quorate {

namespace {

void add_rows(const Settings& settings, const std::string& path, ArrayReader rows,
              std::optional<ArrayReader> labels, RawTable& table)
{
    DenseRows dense(settings, path, rows.what(), rows.shape(), table);
    if (labels) dense.set_labels(labels->labels(), labels->what());
    const auto count = dense.rows(), width = dense.width();
    const auto at_once = rows.fortran() ? count : std::max<std::int64_t>(1, (1 << 16) / width);
    std::vector<double> values;
    for (std::int64_t first = 0; first < count; first += at_once) {
        if (rows.fortran())
            values = rows.all();
        else
            rows.next(std::min(at_once, count - first) * width, values);
        if (!dense.add(values)) return;
    }
    rows.end();
}

// The names of the arrays of an archive that hold rows and labels.
struct ArrayNames {
    std::string rows, labels;
};

ArrayNames names_of(const Settings& settings, const Npz& npz)
{
    ArrayNames names{settings.text("array"), settings.text("label")};
    if (names.rows.empty())
        for (const auto* name : {"X", "x", "X_train", "x_train"})
            if (names.rows.empty() && npz.has(name)) names.rows = name;
    if (names.rows.empty() && npz.names().size() == 1) names.rows = npz.names()[0];
    if (names.rows.empty())
        throw BadInput(
            fmt::format("{} has no array X: name the rows with --array, and the labels "
                        "with --label; it holds {}",
                        npz.path(), shown(npz.names())));
    const std::string end = names.rows.ends_with("_train") ? "_train" : "";
    if (names.labels.empty() && npz.has("y" + end)) names.labels = "y" + end;
    if (labels_are_optional(settings) && !npz.has(names.labels)) names.labels.clear();
    return names;
}

// X_train or X gives X_test.
std::string of_test(const std::string& name)
{
    const std::string end = "_train";
    return (name.ends_with(end) ? name.substr(0, name.size() - end.size()) : name) + "_test";
}

void read_npz(const Settings& settings, const Npz& npz, RawTable& table)
{
    const auto& path = npz.path();
    const auto add = [&](const ArrayNames& names) {
        auto rows = npz.open(names.rows, "array");
        auto labels =
            names.labels.empty() ? std::optional<ArrayReader>() : npz.open(names.labels, "label");
        add_rows(settings, path, std::move(rows), std::move(labels), table);
    };
    const bool first_file = table.rows() == 0;
    const auto names = names_of(settings, npz);
    add(names);
    const ArrayNames test{of_test(names.rows), names.labels.empty() ? "" : of_test(names.labels)};
    if (!first_file || !npz.has(test.rows)) return;
    if (!test.labels.empty() && !npz.has(test.labels))
        throw BadInput(
            fmt::format("{} has no array {}: the rows of {} need labels like those of {}", path,
                        test.labels, test.rows, names.rows));
    begin_own_test_rows(settings, path, test.rows, table);
    add(test);
}

void read_arrays(const Settings& settings, const std::string& path, const Reading& reading,
                 RawTable& table)
{
    std::string first(8, '\0');
    first.resize(ByteSource(path, reading).read(first.data(), first.size()));
    if (is_zip(first)) return read_npz(settings, Npz(path, reading), table);
    if (settings.given("array"))
        settings.refuse("array", ", but " + path + " is one array without a name: leave it out");
    add_rows(settings, path, ArrayReader(ByteSource(path, reading), "X"), std::nullopt, table);
}

}  // namespace

Entry<Format> numpy_entry()
{
    return {.name = "numpy",
            .text = ".npy and .npz of NumPy: rows X, labels y, test rows X_test, y_test",
            .source = "numpy.save, numpy.savez",
            .options = array_options(),
            .make = {read_arrays,
                     [](const std::string& bytes) { return is_npy(bytes) || is_zip(bytes); }}};
}

Entry<Format> idx_entry()
{
    return {.name = "idx",
            .text = "IDX arrays, as MNIST has them; their labels are another file, --labels",
            .source = "LeCun, Cortes and Burges",
            .options = Missing::options(),
            .make = {read_arrays, is_idx}};
}

}  // namespace quorate
