// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

namespace quorate {

/// A number as it stands in a file, the most significant byte first.
template <class T>
T from_big_endian(const char* bytes)
{
    char native[sizeof(T)];
    std::memcpy(native, bytes, sizeof(T));
    if constexpr (std::endian::native == std::endian::little)
        std::reverse(native, native + sizeof(T));
    T value;
    std::memcpy(&value, native, sizeof(T));
    return value;
}

}  // namespace quorate
