// SPDX-License-Identifier: BSD-2-Clause
#include "trace/run_state.hpp"

#include <filesystem>

#include "hdf5/attributes.hpp"

namespace quorate {

RunState state_of_trace(const std::string& path)
{
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return RunState::absent;
    try {
        const auto file = h5::open(path);
        return h5::find_string(file.get(), "status") == "completed" ? RunState::complete
                                                                    : RunState::partial;
    } catch (const std::exception&) {
        return RunState::partial;
    }
}

std::string to_string(RunState state)
{
    return state == RunState::complete  ? "complete"
           : state == RunState::partial ? "partial"
                                        : "absent";
}

}  // namespace quorate
