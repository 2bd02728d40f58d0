// SPDX-License-Identifier: BSD-2-Clause
// What the coordinator and the ranks of its host share beside doorbells: points, which workers read
// where the optimiser wrote them, contributions, which the coordinator adds up where workers wrote
// them, and the channels of their messages, which carry the names of both only. Where memory cannot
// be shared, messages go by MPI and carry the values.
#pragma once

#include <vector>

#include "compute/point.hpp"
#include "mpi/channel.hpp"
#include "mpi/doorbell.hpp"
#include "mpi/shared_blocks.hpp"

namespace quorate {

/// The coordinator's side. Local.
class CoordinatorMemory final : public PointMemory {
public:
    /// Shares nothing.
    CoordinatorMemory() = default;
    /// @param bells          must outlive this object
    /// @param contributions, channels  for each rank but 0, where it writes its contributions, and
    ///                                 its channel
    CoordinatorMemory(const Doorbells& bells, const std::vector<SharedAddress>& contributions,
                      const std::vector<SharedAddress>& channels);

    const SharedAddress& points_address() const { return points_.address(); }
    /// Whether the coordinator reads this rank's contributions in place.
    bool reads(int rank) const;
    /// The channel to a rank, which may not be present.
    /// @param rank  any but 0
    Channel& channel(int rank) { return channels_.at(static_cast<std::size_t>(rank)); }
    bool has_channel(int rank) const
    {
        return !channels_.empty() && channels_[static_cast<std::size_t>(rank)].present();
    }
    /// Values of a contribution that a message names.
    std::shared_ptr<const double> contribution(int rank, std::int64_t block, std::size_t size);

    /// The name of the block that holds a point; 0: it lies elsewhere.
    std::int64_t name(const Point& point) const;
    /// To be called before a message that names the point is sent to the rank.
    void lend(const Point& point, int rank) { points_.lend(point->data(), rank); }
    /// From here on, points for which there is no more shared memory lie on the heap.
    void begin() { began_ = true; }

    bool is_read(const double* point) const override;

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
    std::vector<Channel> channels_;              // by rank
    bool began_ = false;
};

/// The side of every other rank.
struct WorkerMemory {
    SharedBlocks
        contributions;  // which the coordinator or the leader of the node, as reader 0, is lent
    bool read_here = false;  // whether the coordinator reads them in place
    BorrowedBlocks points;
    Channel channel = {};  // to the coordinator
};

}  // namespace quorate
