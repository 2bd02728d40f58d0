// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

namespace quorate {

inline constexpr std::size_t cache_line = 64;  // bytes

/// Asks for the memory of an object, which is written soon, to be fetched into the cache. Only a
/// hint: the object may even be gone.
/// @param bytes  of it, from its beginning
template <class T>
void prefetch(const T* object, std::size_t bytes = sizeof(T))
{
    const auto* memory = reinterpret_cast<const char*>(object);
    for (std::size_t at = 0; at < bytes; at += cache_line) __builtin_prefetch(memory + at, 1);
    __builtin_prefetch(memory + bytes - 1, 1);  // it may end in a further line
}

}  // namespace quorate
