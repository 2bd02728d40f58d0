// SPDX-License-Identifier: BSD-2-Clause
// A transport that behaves as badly as transports may, by a seed.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <random>
#include <vector>

#include "transport/endpoint.hpp"

namespace quorate::test {

/// What goes wrong. All of it is drawn from the seed and the rank.
struct Faults {
    std::uint64_t seed = 0;
    double late = 0;      // share of messages that are held back
    Seconds longest = 0;  // for which they are, at most. Those of one rank keep their order
    double stall = 0;     // chance, at each look at messages, that the rank stands still
    Seconds stalled = 0;  // for which it does
    int cut_rank = -1;    // from and to this rank nothing comes any more
    int cut_after = 0;    // messages that it has received
    bool wakes = true;    // false: nobody is told of messages
};

/// An endpoint before another one, with faults.
class FaultyEndpoint final : public transport::Endpoint {
public:
    FaultyEndpoint(transport::Endpoint& behind, const Faults& faults);

    transport::Ticket send(int to, transport::Tag tag,
                           std::shared_ptr<transport::Bytes> bytes) override;
    void ring() override { behind_.ring(); }
    bool wakes() const override { return faults_.wakes; }
    void advance() override;
    void wait(Seconds at_most = never) override;
    void restart_wait() override { behind_.restart_wait(); }
    void interrupt() override { behind_.interrupt(); }
    bool is_sending() const override { return behind_.is_sending(); }
    bool is_receiving() const override;
    void forsake(int rank) override;
    void expect(int rank) override;
    bool has_ended(int rank) const override { return behind_.has_ended(rank); }
    bool is_unreachable(int rank) const override { return behind_.is_unreachable(rank); }
    [[noreturn]] void die() override;

private:
    struct Late {
        Seconds due;
        transport::Message message;
    };
    double draw() { return std::uniform_real_distribution()(random_); }

    transport::Endpoint& behind_;
    Faults faults_;
    std::mt19937_64 random_;
    std::vector<Late> late_;      // in the order in which they came
    std::vector<Seconds> due_;    // of the last message of each rank
    std::vector<bool> forsaken_;  // by rank
    int received_ = 0;
    bool cut_ = false;
};

}  // namespace quorate::test
