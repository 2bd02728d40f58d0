// SPDX-License-Identifier: BSD-2-Clause
#include "data/data_set_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>

#include "base/error.hpp"
#include "data/hdf5.hpp"

namespace quorate {

namespace {

// Nothing half-written is ever seen under the final name.
void write_then_rename(const std::string& path, const std::function<void(hid_t)>& fill)
{
    const auto temporary = fmt::format("{}.{}.part", path, getpid());
    try {
        auto file = h5::create(temporary);
        fill(file.get());
        file.close("close " + temporary);
        const int descriptor = ::open(temporary.c_str(), O_RDONLY);
        const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
        if (descriptor >= 0) close(descriptor);
        if (!synced || std::rename(temporary.c_str(), path.c_str()) != 0)
            throw Failure(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    } catch (...) {
        std::remove(temporary.c_str());
        throw;
    }
}

void write_head(hid_t file, const std::string& name, std::int64_t columns, bool dense, bool ones,
                const Provenance& provenance)
{
    h5::write_attribute(file, "format", std::string("quorate data set"));
    h5::write_attribute(file, "format_version", std::int64_t{2});
    h5::write_attribute(file, "task", std::string("binary"));
    h5::write_attribute(file, "classes", std::int64_t{2});
    h5::write_attribute(file, "image", std::string(""));
    h5::write_attribute(file, "name", name);
    h5::write_attribute(file, "columns", columns);
    h5::write_attribute(file, "dense", std::int64_t{dense});
    h5::write_attribute(file, "ones", std::int64_t{ones});
    for (const auto& [key, value] : provenance) h5::write_attribute(file, key, value);
}

void write_split(hid_t file, const std::string& name, const Examples& all,
                 std::span<const std::int64_t> rows, bool ones)
{
    std::vector<std::int64_t> start = {0}, column;
    std::vector<double> value, label;
    for (const auto row : rows) {
        const auto at = static_cast<std::size_t>(row);
        column.insert(column.end(), all.column.begin() + all.start[at],
                      all.column.begin() + all.start[at + 1]);
        if (!ones)
            value.insert(value.end(), all.value.begin() + all.start[at],
                         all.value.begin() + all.start[at + 1]);
        start.push_back(static_cast<std::int64_t>(column.size()));
        label.push_back(all.label[at]);
    }
    const auto group = h5::create_group(file, name);
    h5::write<std::int64_t>(group.get(), "row_start", start);
    h5::write<std::int64_t>(group.get(), "column", column);
    if (!ones) h5::write<double>(group.get(), "value", value);
    h5::write<double>(group.get(), "label", label);
}

void write_split(hid_t file, const std::string& name, const DenseRows& rows, std::int64_t columns)
{
    const auto group = h5::create_group(file, name);
    const auto values = h5::create_extendable<double>(
        group.get(), "values", std::max<std::int64_t>(1, (1 << 17) / columns), columns, false);
    h5::append<double>(values, rows.values);
    h5::write<double>(group.get(), "label", rows.label);
}

}  // namespace

void write_data_set(const std::string& path, const std::string& name, const Examples& examples,
                    std::span<const std::int64_t> train, std::span<const std::int64_t> test,
                    const Provenance& provenance)
{
    const bool ones = std::all_of(examples.value.begin(), examples.value.end(),
                                  [](double value) { return value == 1; });
    write_then_rename(path, [&](hid_t file) {
        write_head(file, name, examples.columns, false, ones, provenance);
        write_split(file, "train", examples, train, ones);
        write_split(file, "test", examples, test, ones);
        if (examples.feature.empty()) return;
        const auto group = h5::create_group(file, "feature");
        h5::write_strings(group.get(), "name", examples.feature);
    });
}

void write_data_set(const std::string& path, const std::string& name, std::int64_t columns,
                    const DenseRows& train, const DenseRows& test, const Provenance& provenance)
{
    write_then_rename(path, [&](hid_t file) {
        write_head(file, name, columns, true, false, provenance);
        write_split(file, "train", train, columns);
        write_split(file, "test", test, columns);
    });
}

}  // namespace quorate
