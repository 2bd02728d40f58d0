// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/state.hpp"

#include <filesystem>

namespace quorate {

RunState state_of(const ManifestRow& row, const std::string& manifest)
{
    return state_of_trace((std::filesystem::path(manifest).parent_path() / row.trace).string());
}

std::vector<std::int64_t> left_to_run(const Manifest& manifest, const std::string& path)
{
    std::vector<std::int64_t> left;
    for (const auto& row : manifest.rows())
        if (state_of(row, path) != RunState::complete) left.push_back(row.number);
    return left;
}

}  // namespace quorate
