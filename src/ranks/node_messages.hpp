// SPDX-License-Identifier: BSD-2-Clause
// Messages of aggregation by node: between the coordinator and the leader of a node, a worker that
// hands out points on its node and adds up what the workers there have computed. Everything here is
// local.
#pragma once

#include <functional>

#include "ranks/messages.hpp"
#include "transport/shared_file.hpp"

namespace quorate {

/// A worker of a node, and where it writes its contributions.
struct Peer {
    std::int64_t worker, rank;
    SharedAddress contributions;
};
/// Tells a worker of those of its node (`peers`). It answers with whether it can read what they
/// write. O(peers).
std::shared_ptr<transport::Bytes> encode_peers(std::span<const Peer> peers, transport::Pool& pool);
std::vector<Peer> decode_peers(const transport::Bytes& bytes);

/// What the rows of a worker's shard touch.
struct Touched {
    Worker worker;
    ShardNumber shard = 0;
    std::shared_ptr<const Support> support = {};
};
/// Makes a worker the leader of its node (`lead`), or tells the leader of new supports.
/// O(supports).
/// @param number  of this message; pieces of points name the one whose supports they are packed to
std::shared_ptr<transport::Bytes> encode_lead(std::int64_t number, std::span<const Touched> workers,
                                              transport::Pool& pool);
/// @param parameters  of the model
/// @return the number, and what each worker touches
std::pair<std::int64_t, std::vector<Touched>> decode_lead(const transport::Bytes& bytes,
                                                          std::int64_t parameters);
/// The parameters that some worker's rows touch. O(parameters + supports).
std::shared_ptr<const Support> union_of(std::span<const Touched> workers, std::int64_t parameters);

/// A worker's task that needs a point.
struct Delivery {
    std::int32_t rank;
    ShardNumber shard;
    TaskId task;
};
/// Some numbers of a point (`point_piece`), which follow. A point is there when its last ones are.
struct PieceHead {
    Version version;
    std::int64_t first;  // of the numbers at the union of the supports
    std::int64_t lead;   // the number of the `lead` that told these
};
/// @param count    numbers  @param point  all of it
/// @param touched  the union of the supports
std::shared_ptr<transport::Bytes> encode_piece(const PieceHead& head, std::size_t count,
                                               const Support& touched, ConstNumbers point,
                                               Wire wire, transport::Pool& pool);
/// @param whole  receives the numbers
void decode_piece(const transport::Bytes& bytes, const Support& touched, Wire wire, Numbers whole);

/// A point that some workers of a node need (`node_point`). The leader has it.
struct NodePoint {
    Version version;
    std::vector<Delivery> to;
    std::vector<Version> keep;  // the points that the leader is to keep, this one among them
};
std::shared_ptr<transport::Bytes> encode(const NodePoint& message, transport::Pool& pool);
NodePoint decode_node_point(const transport::Bytes& bytes);

/// What the leader tells a worker of a point for its task (`delivery`): where it lies, all of it.
struct Delivered {
    SharedAddress points;
    std::int64_t block;
    Version version;
    TaskId task;
    ShardNumber shard;
};

/// A contribution that lies at its node.
struct KeptBlock {
    std::int64_t worker, block;
};
/// The owner of a contribution that lies at its node, where this process reads no values of it.
/// When the last copy ends, wherever that is, the block counts as released: no message that is
/// dropped and no contribution that is freed keeps it from its worker.
/// @param released  receives the block; must outlive all copies
std::shared_ptr<const double> owner_of(const KeptBlock& block, std::vector<KeptBlock>& released);
/// What the workers of a node may use again (`release`).
std::shared_ptr<transport::Bytes> encode_release(std::span<const KeptBlock> blocks,
                                                 transport::Pool& pool);
std::vector<KeptBlock> decode_release(const transport::Bytes& bytes);

/// A contribution in the sum of a node, or a part of one.
struct SumTerm {
    std::int32_t worker;
    ShardNumber shard;
    std::int64_t block;          // 0: the values are in the message
    std::int64_t first, length;  // numbers of the block
    double weight;
};
/// Asks for the sum of contributions (`sum`).
struct SumOrder {
    std::int64_t number;  // the answer has it too
    std::vector<SumTerm> terms;
    std::vector<ConstNumbers> values;  // of terms with block 0, in their order
};
std::shared_ptr<transport::Bytes> encode(const SumOrder& order, transport::Pool& pool);
/// The values are views of the bytes.
SumOrder decode_sum_order(const transport::Bytes& bytes, Precision precision);

/// How the answer to a SumOrder begins (`sum_answer`). The sum at the union of the supports of the
/// workers in it follows if `whole`.
struct SumAnswer {
    std::int64_t number;
    std::int64_t whole;  // whether all contributions were there
};

}  // namespace quorate
