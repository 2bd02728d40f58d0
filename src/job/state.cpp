// SPDX-License-Identifier: BSD-2-Clause
#include "job/state.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "data/hdf5_attributes.hpp"

namespace quorate {

namespace fs = std::filesystem;

RunState state_of_trace(const std::string& path)
{
    std::error_code error;
    if (!fs::exists(path, error)) return RunState::absent;
    try {
        const auto file = h5::open(path);
        return h5::find_string(file.get(), "status") == "completed" ? RunState::complete
                                                                    : RunState::partial;
    } catch (const std::exception&) {
        return RunState::partial;
    }
}

RunState state_of(const ManifestRow& row, const std::string& manifest)
{
    return state_of_trace((fs::path(manifest).parent_path() / row.trace).string());
}

std::vector<std::int64_t> left_to_run(const Manifest& manifest, const std::string& path)
{
    std::vector<std::int64_t> left;
    for (const auto& row : manifest.rows())
        if (state_of(row, path) != RunState::complete) left.push_back(row.number);
    return left;
}

std::string to_string(RunState state)
{
    return state == RunState::complete  ? "complete"
           : state == RunState::partial ? "partial"
                                        : "absent";
}

}  // namespace quorate
