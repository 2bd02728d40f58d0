// SPDX-License-Identifier: BSD-2-Clause
#include "run/output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/path.hpp"
#include "hdf5/attributes.hpp"

namespace quorate {

std::string format_of(const std::string& path)
{
    const auto file = h5::open(path);
    return h5::reading(path, "make it again",
                       [&] { return h5::find_string(file.get(), "format"); });
}

bool is_a(const std::string& kind, const std::string& path)
{
    try {
        return format_of(path) == "quorate " + kind;
    } catch (const std::runtime_error&) {
        return false;
    }
}

std::string first_line(const std::string& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

namespace {

// Checks that the file can be written. @return whether it exists and is not empty  @throws BadInput
bool holds_something(const Settings& settings, const std::string& option)
{
    const auto& path = settings.text(option);
    if (path.empty()) settings.refuse(option, ": give a file");
    check_writable(path, option);
    std::error_code error;
    return std::filesystem::exists(path, error) && !std::filesystem::is_empty(path, error);
}

[[noreturn]] void refuse_other(const Settings& settings, const std::string& option,
                               const std::string& what)
{
    settings.refuse(
        option, fmt::format(", which exists and is not {}: remove it or give another name", what));
}

}  // namespace

void check_output(const Settings& settings, const std::string& option, const std::string& kind)
{
    if (holds_something(settings, option) && !is_a(kind, settings.text(option)))
        refuse_other(settings, option, "a " + kind);
}

void check_new_data_set(const Settings& settings)
{
    check_output(settings, "output", "data set");
    if (!settings.on("overwrite") && is_a("data set", settings.text("output")))
        settings.refuse(
            "output", ", which holds a data set: give another name, or --overwrite to replace it");
}

void check_text_output(const Settings& settings, const std::string& option, const std::string& line)
{
    if (holds_something(settings, option) && !first_line(settings.text(option)).starts_with(line))
        refuse_other(settings, option, "a table with the columns " + line);
}

}  // namespace quorate
