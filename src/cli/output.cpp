// SPDX-License-Identifier: BSD-2-Clause
#include "cli/output.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/path.hpp"
#include "data/hdf5.hpp"

namespace quorate {

namespace {

bool is_a(const std::string& kind, const std::string& path)
{
    try {
        const auto file = h5::open(path);
        return h5::has_attribute(file.get(), "format") &&
               h5::read_string(file.get(), "format") == "quorate " + kind;
    } catch (const std::runtime_error&) {
        return false;
    }
}

}  // namespace

void check_output(const Settings& settings, const std::string& option, const std::string& kind)
{
    const auto& path = settings.text(option);
    if (path.empty()) settings.refuse(option, ": give a file");
    check_writable(path, option);
    std::error_code error;
    if (!std::filesystem::exists(path, error) || std::filesystem::is_empty(path, error)) return;
    if (!is_a(kind, path))
        settings.refuse(option, fmt::format(", which exists and is not a {}: remove it or give "
                                            "another name",
                                            kind));
}

}  // namespace quorate
