// SPDX-License-Identifier: BSD-2-Clause
// Links of hosts that messages share: the network of a simulation whose hosts are known.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/seconds.hpp"

namespace quorate {

/// Full-duplex links, one for each host, whose two ways are independent. A message passes the way
/// out of its sender's host and the way into its receiver's at the same time. Messages share these
/// by max-min fairness, as SimGrid's do (Velho, Schnorr, Casanova, Legrand, ACM TOMACS 23(4),
/// 2013): no message can be faster but at the cost of one that is no faster than it. Messages
/// between the same two ranks pass one after the other. Latency is not known here. Times never
/// decrease from call to call. Local.
///
/// A change of the messages on their way costs O(unlike rates x hosts + pairs of hosts that have
/// some); all changes at one time cost that once.
class Links {
public:
    /// Without hosts: nothing is ever on its way.
    Links() = default;
    /// @param hosts  of each rank, the number of its host
    /// @param rates  of each host, bytes a second that its link passes each way; infinity: it never
    ///               limits
    Links(std::vector<int> hosts, std::vector<double> rates);

    /// Sends a message, as soon as those between the same ranks have left.
    /// @param from, to  ranks on unlike hosts
    /// @param message   what the caller names it by, when it has left
    void send(int from, int to, std::int64_t bytes, std::size_t message, Seconds now);
    /// When the next message will have left, unless others are sent before; `never`: none is on its
    /// way.
    Seconds next();
    /// Lets time pass until `now`, which is at most next().
    /// @return the messages that have left just now, in the order in which they began
    std::vector<std::size_t> leave(Seconds now);

private:
    struct Message {
        std::size_t name;
        std::int64_t bytes;
    };
    // A message on its way.
    struct Flow {
        double end;          // it has left when its pair has passed so many bytes of each flow
        std::int64_t order;  // of its beginning
        std::uint64_t lane;
        std::size_t name;
        bool operator>(const Flow& other) const
        {
            return end != other.end ? end > other.end : order > other.order;
        }
    };
    // Flows from one host to another one. They have the same rate.
    struct Pair {
        int from, to;
        double rate = -1;              // of each flow; -1: not known yet
        double passed = 0;             // bytes of each flow, since there have been some
        double first_end = 0;          // of the flow that ends first
        std::vector<Flow> flows = {};  // a heap
    };
    // One way of a link, while rates are being found.
    struct Way {
        double room;                       // bytes a second that no flow has yet
        std::int64_t flows = 0;            // whose rates are not known yet
        std::size_t first = 0, pairs = 0;  // its pairs in pairs_of_ways_
        double share() const { return room / static_cast<double>(flows); }
    };

    void begin(std::uint64_t lane, const Message& message);
    void pass_until(Seconds now);
    void find_rates();
    void list_pairs();
    void fix(Pair& pair, double rate);
    Seconds end_of(const Pair& pair) const;
    Way& out_of(const Pair& pair) { return ways_[2 * static_cast<std::size_t>(pair.from)]; }
    Way& into(const Pair& pair) { return ways_[2 * static_cast<std::size_t>(pair.to) + 1]; }

    std::vector<int> hosts_;                                // by rank
    std::vector<double> rates_;                             // by host
    std::vector<Pair> pairs_;                               // that have flows
    std::unordered_map<std::uint64_t, std::size_t> place_;  // in pairs_, by both hosts
    // Messages that wait for the one that is on its way, by both ranks.
    std::unordered_map<std::uint64_t, std::vector<Message>> lanes_;
    std::vector<Way> ways_;  // of each host the way out and the way in
    std::vector<std::size_t> pairs_of_ways_;
    std::int64_t begun_ = 0;
    Seconds now_ = 0;
    Seconds next_ = never;
    bool changed_ = false;  // since the rates were found
};

}  // namespace quorate
