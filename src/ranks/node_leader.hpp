// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <vector>

#include "ranks/node_messages.hpp"
#include "transport/endpoint.hpp"
#include "transport/shared_blocks.hpp"

namespace quorate {

/// What a worker does for the others of its node, in aggregation by node: it can read what they
/// write from the beginning, and when the coordinator makes it the leader it hands out points to
/// them and adds up their contributions. Local; never waits.
class NodeLeader {
public:
    /// @param endpoint     must outlive this object
    /// @param parameters   of the model
    /// @param wire         what points and sums are rounded to
    /// @param precision    of points and contributions in memory
    NodeLeader(transport::Endpoint& endpoint, std::int64_t parameters, Wire wire,
               Precision precision)
        : endpoint_(endpoint), parameters_(static_cast<std::size_t>(parameters)), wire_(wire),
          precision_(precision)
    {
    }

    /// Opens the memory of the other workers of the node. It stays there when they die.
    /// @return whether all of it could be opened
    bool meet(const transport::Bytes& peers);
    /// How many readers the memory of a leader's points has: the ranks of the run.
    int readers() const { return endpoint_.size(); }
    /// Begins to lead, or takes note of new supports. @throws Failure if there is no memory
    void lead(const transport::Bytes& message);
    /// Takes some numbers of a point. Those of another point that is not complete are given up.
    /// @throws Failure if there is no memory for it
    void take_piece(const transport::Bytes& message);
    /// Tells workers of a point that they need and that is complete.
    void hand_out(const transport::Bytes& message);
    /// Gives workers back what they may use again.
    void release(const transport::Bytes& message);
    /// Adds up contributions. @return the answer
    std::shared_ptr<transport::Bytes> add_up(const transport::Bytes& message);

private:
    ConstNumbers contribution(const SumTerm& term);
    double* room_for_point();

    transport::Endpoint& endpoint_;
    std::size_t parameters_;
    Wire wire_;
    Precision precision_;
    std::map<std::int64_t, BorrowedBlocks> peers_;  // by worker
    std::map<std::int64_t, pid_t> processes_;       // of the peers, by rank
    // Contributions that a sum has used and that may be used once more, by worker and block.
    std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const double>> borrowed_;
    std::int64_t told_ = 0;               // the number of the newest `lead`
    std::map<Worker, Touched> supports_;  // that it told
    Support touched_ = Support::all(0);   // their union
    NumberVector sum_;
    SharedBlocks points_;
    std::map<Version, const double*> kept_;  // points
    double* arriving_ = nullptr;             // a point that is not complete
    Version version_ = -1;                   // its number
};

}  // namespace quorate
