// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <set>

#include "compute/point.hpp"
#include "transport/shared_blocks.hpp"

namespace quorate {

/// Memory for an owner's slices of points: each lies in the shared memory of a whole point, at its
/// place there. The slices of the other owners are written around it, and the workers of the host
/// read the whole. So nobody copies the owner's slice. Local; for one thread.
class SlicesOfPoints final : public PointMemory {
public:
    /// Shares nothing.
    SlicesOfPoints() = default;
    /// @param blocks  in which whole points lie  @param whole  numbers of a point
    /// @param first   the first number of the slice
    SlicesOfPoints(SharedBlocks blocks, std::size_t whole, std::size_t first, Precision precision)
        : blocks_(std::move(blocks)), whole_(whole), first_(first), precision_(precision)
    {
    }

    bool present() const { return blocks_.present(); }
    SharedBlocks& blocks() { return blocks_; }
    /// The block of the whole point that a slice is in. @throws Failure if it lies elsewhere
    double* block_of(const NumberVector& slice) const;
    /// The whole point in a block.
    Numbers whole(double* block) const { return numbers_at(block, whole_, precision_); }
    /// Slices of others are going to be written to this block, which is in use until let_go(),
    /// whatever becomes of the own one.
    void hold(const double* block) { held_.insert(block); }
    void let_go(const double* block) { held_.erase(block); }

    /// Also while slices of others are written around it.
    bool is_read(const void* slice) const override;

private:
    std::size_t bytes_before() const { return first_ * bytes_of(precision_); }
    // @throws Failure if there is too little memory
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override
    {
        return this == &other;
    }
    double* block_at(const void* slice) const;

    SharedBlocks blocks_;
    std::size_t whole_ = 0, first_ = 0;
    Precision precision_ = Precision::binary64;
    std::set<const double*> held_;
};

}  // namespace quorate
