// SPDX-License-Identifier: BSD-2-Clause
// Messages of vectors that several hosts have shares of: between the coordinator, which decides,
// and the owners of shares. Everything here is local.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/arrival.hpp"
#include "ranks/node_messages.hpp"

namespace quorate {

/// How the parameters are cut into shares. Share a has the parameters bounds[a]..bounds[a+1]-1.
/// Share 0 is the coordinator's; each other one is owned by a worker of another host.
struct Shares {
    std::vector<std::int64_t> bounds;
    std::vector<int> ranks;   // the owner of each
    std::vector<int> groups;  // of workers, that each owner adds up: those of its host; -1: none

    std::size_t count() const { return ranks.size(); }
    std::int64_t first(std::size_t share) const { return bounds[share]; }
    std::int64_t last(std::size_t share) const { return bounds[share + 1]; }
    std::size_t size(std::size_t share) const
    {
        return static_cast<std::size_t>(last(share) - first(share));
    }
};

/// A worker as the owner of a share knows it.
struct ShareWorker {
    WorkerInfo info;    // without the name of its host
    ShardNumber shard;  // that it has loaded
    // What its rows touch: of the share, numbered from its first parameter; and all of it, of the
    // owner's own host only.
    std::shared_ptr<const Support> part, whole = {};
};

/// Makes a rank the owner of a share (`own`). When a code was made again, the same message tells it
/// what workers have now.
struct Ownership {
    std::int64_t share = 0;
    Shares shares = {};
    std::vector<ShareWorker> workers = {};
    std::vector<Peer> peers = {};  // the workers of its host
    std::string step = {};         // --step, which the coordinator has chosen

    int group() const { return shares.groups[static_cast<std::size_t>(share)]; }
};
/// O(supports).
std::shared_ptr<transport::Bytes> encode(const Ownership& ownership, transport::Pool& pool);
/// Workers with equal supports share them.
Ownership decode_ownership(const transport::Bytes& bytes);

/// What the coordinator's engine was told, so that the engines of all owners are told the same
/// (`event`).
struct EngineEvent {
    enum class Kind : std::int64_t {
        begin,     // of the run: all owners are there
        arrivals,  // contributions have come
        timer,     // a timer has gone off
        changes,   // members have changed
        join,      // nothing: the vectors of the last update are to be joined
        state,     // nothing: the state after the last update is to be kept in memory
        end        // of the run
    };
    /// A contribution, where its values lie at its host: numbers first..first+length-1 of a block.
    struct Came {
        Arrival arrival;
        Losses losses;
        KeptBlock at;  // block 0: it lies with the coordinator
        std::int64_t first, length;
    };
    Kind kind;
    Seconds time = 0;  // by the coordinator's clock
    std::vector<Came> arrivals = {};
    std::int64_t timer = 0;
    std::vector<Change> changes = {};
    std::int64_t kept = 0;  // the last round of which the coordinator has kept a model
};
std::shared_ptr<transport::Bytes> encode(const EngineEvent& event, transport::Pool& pool);
EngineEvent decode_event(const transport::Bytes& bytes);

/// How a `point_slice` begins. The numbers follow, rounded, at what the host of the receiver
/// touches of the sender's share.
struct PointSlice {
    std::int64_t share;
    Version version;
    std::int64_t coding;  // how often the code was made again: then supports are others
};
/// How a `sum_slice` begins. The numbers follow, rounded, at what the workers in the sum touch of
/// the receiver's share.
struct SumSlice {
    std::int64_t group;   // whose sum it is
    std::int64_t number;  // of the sum; all owners count alike
    std::uint64_t terms;  // a hash of workers and weights: all owners have to have the same
};
/// How `block_sums` begin. The sums of the blocks of the sender's share follow.
struct BlockSums {
    std::int64_t share;
    std::int64_t number;  // of the scalar; all owners count alike
    // Bytes of slices that the owner has sent and received since the last message.
    std::int64_t points_sent, sums_received;
    std::int64_t blocks;
};
/// A vector whose slices the owners hold until the coordinator asks for them, one after the other
/// (`slice_wanted`). All owners give it the same name.
struct SliceName {
    enum Kind : std::int64_t {
        kept,      // the model after round `number`
        finished,  // the final model `vector`
        state      // vector `vector` of checkpoint `number`
    };
    Kind kind;
    std::int64_t number, vector;
    auto operator<=>(const SliceName&) const = default;
};
/// How a `slice` begins. The numbers follow, exactly.
struct SliceHead {
    SliceName name;
    std::int64_t share, precision, numbers;
};

/// A contribution that was in use when the checkpoint was written (`adopted`).
struct Adopted {
    Worker worker;
    Losses losses;
    /// Where and what it is, all of it; none for owners that do not add it up.
    std::shared_ptr<const Support> support = {};
    std::vector<double> values = {};
};
std::shared_ptr<transport::Bytes> encode(const Adopted& contribution, transport::Pool& pool);
/// @param parameters  of the model
Adopted decode_adopted(const transport::Bytes& bytes, std::int64_t parameters);

}  // namespace quorate
