// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/slices_of_points.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace quorate {

// Where the block of a slice begins.
double* SlicesOfPoints::block_at(const void* slice) const
{
    auto* at = static_cast<std::byte*>(const_cast<void*>(slice));
    return reinterpret_cast<double*>(at - bytes_before());
}

double* SlicesOfPoints::block_of(const NumberVector& slice) const
{
    auto* block = block_at(slice.address());
    if (!blocks_.owns(block))
        throw Failure("a point does not lie where workers read it: report this as a bug");
    return block;
}

bool SlicesOfPoints::is_read(const void* slice) const
{
    const auto* block = block_at(slice);
    return held_.contains(block) || blocks_.is_lent(block);
}

void* SlicesOfPoints::do_allocate(std::size_t, std::size_t)
{
    auto* block = blocks_.take(doubles_for(whole_, precision_));
    if (!block)
        throw Failure(
            fmt::format("there are no {} bytes of memory left for a point of the workers of this "
                        "host: ask for more memory, start fewer ranks on it, or use --aggregate "
                        "flat",
                        whole_ * bytes_of(precision_)));
    return reinterpret_cast<std::byte*>(block) + bytes_before();
}

void SlicesOfPoints::do_deallocate(void* memory, std::size_t, std::size_t)
{
    blocks_.give_back(block_at(memory));
}

}  // namespace quorate
