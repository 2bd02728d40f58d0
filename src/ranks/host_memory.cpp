// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/host_memory.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace quorate {

namespace {

// Of a point, as blocks are known by.
const double* begin_of(const NumberVector& point)
{
    return static_cast<const double*>(point.address());
}

}  // namespace

CoordinatorMemory::CoordinatorMemory(const transport::Endpoint& endpoint,
                                     const std::vector<SharedAddress>& contributions)
    : points_("quorate-points", endpoint.size(),
              [&endpoint](int rank) { return endpoint.has_ended(rank); }),
      contributions_(1)
{
    for (const auto& address : contributions) contributions_.emplace_back(address, 1, 0);
}

bool CoordinatorMemory::reads(int rank) const
{
    return !contributions_.empty() && contributions_[static_cast<std::size_t>(rank)].present();
}

std::shared_ptr<const double> CoordinatorMemory::contribution(int rank, std::int64_t block,
                                                              std::size_t size)
{
    return contributions_.at(static_cast<std::size_t>(rank)).borrow(block, size);
}

std::int64_t CoordinatorMemory::name(const Point& point) const
{
    return points_.owns(begin_of(*point)) ? points_.name(begin_of(*point)) : 0;
}

bool CoordinatorMemory::is_read(const void* point) const
{
    const auto* block = static_cast<const double*>(point);
    return points_.owns(block) && points_.is_lent(block);
}

void CoordinatorMemory::lend(const Point& point, int rank) { points_.lend(begin_of(*point), rank); }

void* CoordinatorMemory::do_allocate(std::size_t bytes, std::size_t alignment)
{
    if (auto* values = points_.take((bytes + sizeof(double) - 1) / sizeof(double))) return values;
    if (!began_)
        throw Failure(
            fmt::format("there are no {} bytes of memory left for the points of the run: "
                        "ask for more memory, or start fewer ranks on this host",
                        bytes));
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
}

void CoordinatorMemory::do_deallocate(void* memory, std::size_t bytes, std::size_t alignment)
{
    if (const auto* values = static_cast<const double*>(memory); points_.owns(values))
        points_.give_back(values);
    else
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
}

}  // namespace quorate
