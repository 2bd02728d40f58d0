// SPDX-License-Identifier: BSD-2-Clause
#include "optimum/optimum_cache.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/path.hpp"
#include "data/identity.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"

namespace quorate {

namespace {

// Returns the number of the optimum of an objective; how many optima there are if it is not there.
int number_of(const ObjectiveName& name, const h5::File& file)
{
    for (int i = 0;; ++i) {
        if (!h5::has(file.get(), std::to_string(i))) return i;
        const auto group = h5::open_group(file.get(), std::to_string(i));
        const ObjectiveName one{h5::read_string(group.get(), "model"),
                                h5::read_double(group.get(), "l2"),
                                h5::read_double(group.get(), "l1")};
        if (one == name) return i;
    }
}

h5::File open_cache(const std::string& path)
{
    auto file = h5::open(path);
    if (h5::find_string(file.get(), "format") != "quorate optima")
        throw BadInput(path + " is not a file of optima: remove it");
    return file;
}

}  // namespace

std::string optimum_cache_of(const std::string& data)
{
    auto path = std::filesystem::path(data);
    return path.replace_extension(".optima.h5").string();
}

void store_optimum(const DataSet& data, const ObjectiveName& name, const Optimum& optimum,
                   const std::string& command_line)
{
    const auto path = optimum_cache_of(data.path());
    write_whole(path, [&](const std::string& temporary) {
        h5::File file;
        int number = 0;
        if (std::filesystem::exists(path)) {
            number = number_of(name, open_cache(path));
            std::filesystem::copy_file(path, temporary,
                                       std::filesystem::copy_options::overwrite_existing);
            file = h5::open_to_append(temporary);
            if (h5::has(file.get(), std::to_string(number)))
                h5::check(H5Ldelete(file.get(), std::to_string(number).c_str(), H5P_DEFAULT),
                          "remove an optimum");
        } else {
            file = h5::create(temporary);
            h5::write_attribute(file.get(), "format", std::string("quorate optima"));
            h5::write_attribute(file.get(), "format_version", std::int64_t{1});
            h5::write_attribute(file.get(), "data", data.name());
        }
        {
            const auto group = h5::create_group(file.get(), std::to_string(number));
            h5::write_attribute(group.get(), "model", name.model);
            h5::write_attribute(group.get(), "l2", name.l2);
            h5::write_attribute(group.get(), "l1", name.l1);
            h5::write_attribute(group.get(), "rows", data.rows(Split::train));
            h5::write_attribute(group.get(), "data_sha256", identity_of(data));
            h5::write_attribute(group.get(), "objective", optimum.objective);
            h5::write_attribute(group.get(), "bound", optimum.bound);
            h5::write_attribute(group.get(), "gradient_norm", optimum.gradient_norm);
            h5::write_attribute(group.get(), "iterations", optimum.iterations);
            h5::write_attribute(group.get(), "solver", optimum.solver);
            h5::write_attribute(group.get(), "command_line", command_line);
            h5::write<double>(group.get(), "w", optimum.model);
        }
        file.close("close " + temporary);
    });
}

std::optional<KnownOptimum> known_optimum(const std::string& data, std::int64_t rows,
                                          const std::string& identity, const ObjectiveName& name)
{
    const auto path = optimum_cache_of(data);
    if (data.empty() || !std::filesystem::exists(path)) return {};
    return h5::reading(path, "remove it, and find the optima again",
                       [&]() -> std::optional<KnownOptimum> {
                           const auto file = open_cache(path);
                           const auto number = std::to_string(number_of(name, file));
                           if (!h5::has(file.get(), number)) return {};
                           const auto group = h5::open_group(file.get(), number);
                           if (h5::read_integer(group.get(), "rows") != rows) return {};
                           const auto theirs = h5::find_string(group.get(), "data_sha256");
                           if (!identity.empty() && theirs != identity) return {};
                           return KnownOptimum{h5::read_double(group.get(), "objective"),
                                               h5::read_double(group.get(), "bound"),
                                               h5::read_double(group.get(), "gradient_norm")};
                       });
}

}  // namespace quorate
