// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

namespace quorate {

/// Reads a number that is stored with its most significant byte first.
/// @param bytes  sizeof(T) of them, in any alignment
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
