// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "base/seconds.hpp"
#include "transport/bytes.hpp"

namespace quorate::transport {

/// The kind of a message. The comments name the sender first.
enum class Tag : int {
    hello = 1,     // start-up, to the coordinator: the rank's host and plugins
    join_reply,    // start-up, from the coordinator: whether to go on, and as which worker
    ready,         // worker: its shard is loaded; support, rows, host
    task,          // coordinator: see messages.hpp
    cancel,        // coordinator: drop tasks up to the one named
    contribution,  // worker: one or more parts of a task
    evaluate,      // coordinator: the rows to score
    score,         // coordinator: models to score
    scores,        // worker: losses and scores of these models
    stop,          // coordinator: the end of the run
    farewell,      // worker: its last message, the answer to `stop`
    assign,        // coordinator: which worker of which coding the rank is from now on
    count,         // coordinator: how many tasks the worker has done that its own count keys
    ping,          // coordinator: are you there?
    pong,          // worker: the answer to a ping
    leaving,       // worker: it leaves the run, because a signal asked it to
    die,           // coordinator: the rank is to kill itself, a planned death
    // Of aggregation by node, see node_messages.hpp:
    peers,        // coordinator: the workers of the rank's node
    met,          // worker: whether it can read what these write
    keep,         // coordinator: contributions stay at the worker until a sum needs them
    lead,         // coordinator: the rank leads its node; supports
    point_piece,  // coordinator, to a leader: some numbers of a point
    node_point,   // coordinator, to a leader: it is to hand out a point that it has
    delivery,     // leader: where a point for a task lies
    release,      // coordinator, to a leader: contributions that are needed no more
    sum,          // coordinator, to a leader: contributions to add up
    sum_answer,   // leader: their sum
    // Of vectors that several hosts have shares of, see share_messages.hpp:
    own,           // coordinator, to a leader: it owns a share, and which
    owns,          // leader: it is ready for messages of the other owners
    event,         // coordinator, to owners: what its engine was told
    point_slice,   // owner, to another one: its share of a point
    sum_slice,     // owner, to another one: that one's share of the sum of its host
    block_sums,    // owner: of what its share adds to a scalar of a whole vector
    slice,         // owner, to the coordinator: its share of a vector that is to be written
    past,          // coordinator, to owners: what the run goes on from; empty: it begins
    adopted,       // coordinator, to owners: a contribution that was in use there
    slice_wanted,  // coordinator, to an owner: it is to send one
    // Of a run that goes back to its checkpoint, see survivors.hpp:
    orphan,   // any rank, to all but the coordinator: that one is dead
    regroup,  // coordinator, or the next one: the ranks that are left; a new start-up follows
    // Of checkpoints in memory, see state_copies.hpp:
    state_piece,   // an owner, or the coordinator: a piece of a part of the run's state, to keep
    state_kept,    // to the coordinator: the rank has a part of the newest state, whole
    state_wanted,  // start-up, coordinator: the rank is to send a part that it keeps
};

/// A message that has come, whole.
struct Message {
    std::shared_ptr<Bytes> bytes;
    int from = 0;  // the rank that has sent it
    Tag tag{};
    Seconds sent = 0;  // by the sender's clock, where the transport tells; else 0
};

}  // namespace quorate::transport
