// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fleet/fleet.hpp"

namespace quorate {

/// A point goes to a node in pieces of so many numbers, so that one which nobody wants any more is
/// given up.
inline constexpr std::int64_t point_piece = 32768;

/// The hosts of workers, numbered from 0 in the order in which the workers name them.
struct Nodes {
    /// @param before  hosts that were numbered before these workers came
    explicit Nodes(std::span<const WorkerInfo> workers, std::vector<std::string> before = {})
        : names(std::move(before))
    {
        for (const auto& name : names) numbers.try_emplace(name, numbers.size());
        for (const auto& worker : workers)
            if (numbers.try_emplace(worker.host, numbers.size()).second)
                names.push_back(worker.host);
    }
    std::int64_t number(const std::string& host) const
    {
        return static_cast<std::int64_t>(numbers.at(host));
    }
    std::vector<std::string> names;
    std::map<std::string, std::size_t> numbers;
};

}  // namespace quorate
