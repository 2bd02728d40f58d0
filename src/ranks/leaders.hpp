// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ranks/membership.hpp"

namespace quorate {

/// What the coordinator has to do with the leaders of nodes, in aggregation by node: a leader hands
/// out points to the workers of its node, and adds up what they keep. A worker belongs to the node
/// that it was on when the run began. Without begin() there are no nodes. Never waits. Local.
class Leaders {
public:
    /// @param mailbox, membership  must outlive this object
    Leaders(CoordinatorMailbox& mailbox, const Membership& membership, std::int64_t parameters,
            Wire wire)
        : mailbox_(mailbox), membership_(membership), parameters_(parameters), wire_(wire)
    {
    }

    /// Forms the nodes, one of each group, and asks the workers of each whether they can read what
    /// the others write: those of nodes that can are led when they have answered.
    /// @param contributions  for each rank but 0, where it writes them; none: not to be read by
    ///                       others, because the coordinator reads it
    void begin(std::span<const int> groups, std::span<const SharedAddress> contributions);
    /// Whether some workers have not answered yet.
    bool is_beginning() const;
    /// The groups of workers.
    int groups() const { return std::max(1, static_cast<int>(nodes_.size())); }
    /// Takes a message of a worker. @return whether it was for this object
    bool take(transport::Message& message);

    /// Whether a leader hands out points to the worker.
    bool lead(Worker worker) const;
    /// Has a leader hand out a point to the worker, which it leads, for a task.
    void hand_out(Worker worker, TaskId task, Version version, const Point& point);
    /// Forgets what is to be handed out to a worker, for one task or for all.
    void forget(Worker worker, std::optional<TaskId> task = std::nullopt);
    /// Tells leaders what they do not know yet: points, and what may be used again.
    /// @param released  contributions that nobody needs any more; those that were told are removed
    void send(std::vector<KeptBlock>& released);

    /// A worker touches other columns than before.
    void has_loaded(Worker worker);
    /// Another worker leads, if this one did.
    void has_died(Worker worker, bool replaced);
    /// The worker may lead its node, if nobody does.
    void is_back(Worker worker);

    /// A contribution of a sum. The values are there if it does not lie at its node.
    struct Term {
        Worker worker;
        double weight;
        const Touched& of;
        std::int64_t block, first, length;
        NumberVector values;
    };
    /// Forgets the last sum of a group.
    void begin_sum(std::size_t group);
    /// Asks the leader for the sum, unless this one was asked since begin_sum(), or has answered.
    /// @param terms  makes them, in the order of summation
    /// @throws LostContributions if there is no leader any more
    void ask_for_sum(std::size_t group, const std::function<std::vector<Term>()>& terms);
    /// Whether the leader has answered.
    bool has_sum(std::size_t group) const { return nodes_[group].sum.has_value(); }
    /// The answer. Valid until begin_sum(). @throws LostContributions
    Values sum(std::size_t group) const;

private:
    // A point that the leader of a node has handed out, or is to, for a task that is not closed.
    struct HandedOut {
        Worker worker;
        ShardNumber shard;
        TaskId task;
        Version version;
        Point point;
        bool told = false;  // the leader has been told
    };
    // What a piece takes at least, as far as nodes are compared: less may be chance.
    static constexpr Seconds least_time_of_piece = 0.01;

    // A node with a leader: one of its workers, that hands out points and adds up contributions.
    struct Node {
        std::vector<Worker> workers = {};
        bool meets = false;           // its workers read what each other writes
        std::vector<int> unmet = {};  // ranks that have not answered yet whether they do
        Worker leader = -1;           // -1: there is none
        bool knows_supports = false;  // the leader knows the present ones
        std::int64_t lead = 0;        // the message that told it
        std::shared_ptr<const Support> touched = {};  // their union
        std::vector<Version> points = {};             // that the leader has
        Version arriving = -1;  // the point of which it has the first `sent` numbers; -1: none
        std::size_t sent = 0;
        // Pieces of points on their way to the leader, and since when.
        std::vector<std::pair<Seconds, transport::Ticket>> pieces = {};
        Seconds piece_takes = least_time_of_piece;  // the slowest of late
        std::vector<HandedOut> handed_out = {};
        std::vector<Worker> replaced = {};           // by ranks that may be on any node
        Worker asked = -1;                           // the leader that was asked for a sum
        std::int64_t request = 0;                    // for a sum, the last one
        std::shared_ptr<const Support> summed = {};  // at which it is
        std::optional<transport::Message> sum = {};  // the answer
    };

    // The number of the node that a worker belongs to, and the node; null: there is none.
    std::size_t group_of(Worker worker) const;
    Node* node_of(Worker worker);
    void ask_to_meet(Node& node, std::span<const SharedAddress> contributions);
    void met(int rank, bool can_read);
    void appoint(Node& node);
    void tell_supports(Node& node);
    void tell_released(std::vector<KeptBlock>& released);
    void look_at_pieces();
    Seconds usual_time_of_pieces() const;
    bool enough_under_way(Seconds slow) const;
    void send_piece(Node& node, Version version, ConstNumbers point);
    void hand_out(Node& node, Version version);
    [[noreturn]] static void lose(const Node& node);
    void send(const Node& node, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes);

    CoordinatorMailbox& mailbox_;
    const Membership& membership_;
    std::int64_t parameters_;
    Wire wire_;
    std::vector<Node> nodes_;    // by group
    std::int64_t requests_ = 0;  // for sums, so far
    std::int64_t leads_ = 0;     // messages that told leaders of supports, so far
    std::size_t turn_ = 0;       // the node that gets points next
};

}  // namespace quorate
