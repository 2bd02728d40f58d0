// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fleet/fleet.hpp"

namespace quorate {

/// The hosts of workers, numbered from 0 in the order in which the workers name them.
struct Nodes {
    /// @param before  hosts that were numbered before these workers came
    explicit Nodes(std::span<const WorkerInfo> workers, std::vector<std::string> before = {})
        : names(std::move(before))
    {
        for (const auto& worker : workers)
            if (std::ranges::find(names, worker.host) == names.end()) names.push_back(worker.host);
    }
    std::int64_t number(const std::string& host) const
    {
        return std::ranges::find(names, host) - names.begin();
    }
    std::vector<std::string> names;
};

}  // namespace quorate
