// SPDX-License-Identifier: BSD-2-Clause
#include "run/same_data.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "data/identity.hpp"

namespace quorate {

void check_same_data(const DataSet& data, const std::string& recorded, const std::string& path,
                     const std::string& remedy)
{
    if (recorded.empty() || recorded == identity_of(data)) return;
    throw BadInput(
        fmt::format("{} holds other data than the run of {} had: {}", data.path(), path, remedy));
}

std::string digest_of_events(const Settings& settings)
{
    const auto& path = settings.text("events");
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) ? sha256(path) : "";
}

}  // namespace quorate
