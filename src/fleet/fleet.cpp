// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/fleet.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace quorate {

std::pair<Version, Version> versions_of(const Part& part, const Versions& inputs)
{
    const auto version = [&](const Item& item) {
        return inputs[static_cast<std::size_t>(item.input)];
    };
    if (inputs.size() == 1 || part.items.empty()) return {inputs[0], inputs[0]};
    const auto [oldest, newest] = std::ranges::minmax(part.items, {}, version);
    return {version(oldest), version(newest)};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): MpiFleet keeps the values
std::size_t Fleet::adopt(Worker, std::vector<double>, double)
{
    throw std::logic_error("this fleet goes on with what it has");
}

std::uint64_t Fleet::fingerprint(std::size_t handle)
{
    const auto packed = values(handle).packed;
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(packed.data()), packed.size_bytes()});
}

}  // namespace quorate
