// SPDX-License-Identifier: BSD-2-Clause
#include "data/identity.hpp"

#include <fmt/format.h>

#include "base/sha256.hpp"

namespace quorate {

std::string identity_of(const DataSet& data)
{
    const auto attributes = data.attributes();
    if (const auto content = attributes.find("content_sha256"); content != attributes.end())
        return content->second;
    Sha256 all;
    for (const auto& [name, value] : attributes) all.add(fmt::format("{}={}\n", name, value));
    return all.text();
}

}  // namespace quorate
