// SPDX-License-Identifier: BSD-2-Clause
// What the coordinator and the ranks of its host share beside doorbells: points, which workers read
// where the optimiser wrote them, contributions, which the coordinator adds up where workers wrote
// them. Messages carry only the names of both. Where memory cannot be shared, they carry the
// values.
#pragma once

#include <vector>

#include "compute/point.hpp"
#include "transport/endpoint.hpp"
#include "transport/shared_blocks.hpp"

namespace quorate {

/// The coordinator's side. Local.
class CoordinatorMemory final : public PointMemory {
public:
    /// Shares nothing.
    CoordinatorMemory() = default;
    /// @param endpoint       must outlive this object
    /// @param contributions  for each rank but 0, where it writes its contributions
    CoordinatorMemory(const transport::Endpoint& endpoint,
                      const std::vector<SharedAddress>& contributions);

    const SharedAddress& points_address() const { return points_.address(); }
    /// Whether the coordinator reads this rank's contributions in place.
    bool reads(int rank) const;
    /// Values of a contribution that a message names. @param size  of them, in doubles
    std::shared_ptr<const double> contribution(int rank, std::int64_t block, std::size_t size);

    /// The name of the block that holds a point; 0: it lies elsewhere.
    std::int64_t name(const Point& point) const;
    /// To be called before a message that names the point is sent to the rank.
    void lend(const Point& point, int rank);
    /// From here on, points for which there is no more shared memory lie on the heap.
    void begin() { began_ = true; }

    bool is_read(const void* point) const override;

private:
    // @throws Failure  before begin(), if there is too little memory
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override
    {
        return this == &other;
    }

    SharedBlocks points_;
    std::vector<BorrowedBlocks> contributions_;  // by rank
    bool began_ = false;
};

/// The side of every other rank.
struct WorkerMemory {
    SharedBlocks
        contributions;  // which the coordinator or the leader of the node, as reader 0, is lent
    bool read_here = false;  // whether the coordinator reads them in place
    BorrowedBlocks points;
};

}  // namespace quorate
