// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/fleet.hpp"

#include <string_view>

namespace quorate {

std::uint64_t Fleet::fingerprint(std::size_t handle)
{
    const auto packed = values(handle).packed;
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(packed.data()), packed.size_bytes()});
}

}  // namespace quorate
