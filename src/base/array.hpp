// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace quorate {

/// Memory for vectors of the model's size: large ones in huge pages, because gathering and
/// scattering by column touches a page after the other; and not set to zero, because all of it is
/// written before it is read.
template <class T>
struct ArrayAllocator {
    using value_type = T;
    ArrayAllocator() = default;
    template <class U>
    ArrayAllocator(const ArrayAllocator<U>&)
    {
    }

    T* allocate(std::size_t count)
    {
        constexpr std::size_t huge_page = 2 << 20, line = 64;
        const std::size_t bytes = count * sizeof(T);
        const bool large = bytes >= huge_page / 2;
        const std::size_t unit = large ? huge_page : line;
        void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
        if (!memory) throw std::bad_alloc();
        if (large) madvise(memory, bytes, MADV_HUGEPAGE);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }
    template <class U>
    void construct(U* place)
    {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Arguments>
    void construct(U* place, Arguments&&... arguments)
    {
        ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    }
    bool operator==(const ArrayAllocator&) const { return true; }
};

/// Array(n) holds n arbitrary numbers, Array(n, 0.0) holds zeros.
using Array = std::vector<double, ArrayAllocator<double>>;

}  // namespace quorate
