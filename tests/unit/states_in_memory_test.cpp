// SPDX-License-Identifier: BSD-2-Clause
// Checkpoints in the memory of ranks: their parts, the copies of these, and when they begin.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "base/error.hpp"
#include "ranks/state_copies.hpp"
#include "run/memory_checkpoint.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using Doubles = std::vector<double>;

// A rank that owns one of two shares of eight parameters, and what its rank and the next one keep.
struct KeepingOwner {
    KeepingOwner(std::int64_t share, StateCopies& own, StateCopies& next)
        : first(static_cast<std::size_t>(4 * share)),
          parts(5, optimizers, ShareRange{first, 4},
                {[&own](auto bytes) { own.take(std::move(bytes)); },
                 [&next, this](auto bytes) {
                     ++pieces;
                     next.take(std::move(bytes));
                 },
                 share, 2})
    {
    }
    // An update with a gradient that tells parameters and rounds apart.
    void update(std::int64_t round)
    {
        Doubles gradient(4), next(4);
        for (std::size_t i = 0; i < 4; ++i) gradient[i] = static_cast<double>(round * (first + i));
        optimizers[0]->update(gradient, 0.5, next);
        Snapshot snapshot;
        snapshot.event = 10 * round;
        snapshot.round = round;
        snapshot.position = {{"round", round}};
        snapshot.points[round] = std::make_shared<const NumberVector>(next);
        if (round % 5 == 0) parts.make(snapshot);
        parts.send_piece();
    }
    static Optimizers make()
    {
        const auto& agd = test::entry(quorate::optimizers(), "agd");
        Optimizers all;
        all.push_back(agd.make(test::settings(agd.options, {}), Doubles(4), {}));
        return all;
    }
    std::size_t first;
    int pieces = 0;
    Optimizers optimizers = make();
    StateParts parts;
};

Doubles all_of(const StoredVector& vector) { return vector.read(0, vector.size); }

TEST(StateParts, OfAnOwnerThatIsGoneAreKeptByTheNext)
{
    StateCopies zero, one;
    KeepingOwner owner(0, zero, one), other(1, one, zero);
    std::map<std::int64_t, std::vector<Doubles>> memory;  // by round, of both optimisers
    for (std::int64_t round = 1; round <= 14; ++round) {
        owner.update(round);
        other.update(round);
        for (auto* each : {&owner, &other})
            for (const std::span<const double> vector : each->optimizers[0]->memory())
                memory[round].emplace_back(vector.begin(), vector.end());
    }
    EXPECT_EQ(other.pieces, 6);  // three for each state, of rounds 5 and 10
    for (const auto* left : {&zero, &one}) {
        const auto states = whole_states(left->whole());
        ASSERT_EQ(states, (std::vector<std::pair<std::int64_t, std::int64_t>>{{10, 2}, {5, 2}}));
        for (const auto& [round, shares] : states) {
            const auto joined =
                join_parts({left->find({round, 0, shares}), left->find({round, 1, shares})});
            EXPECT_EQ(joined.snapshot.round, round);
            EXPECT_EQ(joined.snapshot.event, 10 * round);
            EXPECT_EQ(joined.snapshot.position, (trace::Position{{"round", round}}));
            EXPECT_EQ(joined.optimizers[0].updates, round);
            const auto& found = joined.optimizers[0].vectors;
            const auto& was = memory[round];
            ASSERT_EQ(2 * found.size(), was.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                auto whole = was[i];
                const auto& second = was[found.size() + i];
                whole.insert(whole.end(), second.begin(), second.end());
                EXPECT_EQ(all_of(found[i]), whole);
                EXPECT_EQ(found[i].read(3, 2), (Doubles{whole[3], whole[4]}));
            }
            EXPECT_EQ(joined.points.at(round).size, 8u);
        }
    }
}

TEST(StateParts, AreNotWholeBeforeTheLastPiece)
{
    StateCopies zero, one;
    KeepingOwner owner(0, zero, one);
    for (std::int64_t round = 1; round <= 6; ++round) owner.update(round);
    EXPECT_EQ(zero.whole(), (std::set<StatePart>{{5, 0, 2}}));
    EXPECT_TRUE(one.whole().empty());
    owner.update(7);
    EXPECT_EQ(one.whole(), (std::set<StatePart>{{5, 0, 2}}));
    EXPECT_TRUE(whole_states(one.whole()).empty());  // of another share nobody has anything
}

TEST(StateParts, OfRoundsThatAreLostAreForgotten)
{
    StateCopies zero, one;
    KeepingOwner owner(0, zero, one);
    for (std::int64_t round = 1; round <= 13; ++round) owner.update(round);
    one.forget_after(9);
    EXPECT_EQ(one.whole(), (std::set<StatePart>{{5, 0, 2}}));
}

TEST(StateParts, OfTheNewestTwoStatesAreKept)
{
    StateCopies zero, one;
    KeepingOwner owner(0, zero, one);
    for (std::int64_t round = 1; round <= 17; ++round) owner.update(round);
    EXPECT_EQ(zero.whole(), (std::set<StatePart>{{10, 0, 2}, {15, 0, 2}}));
    EXPECT_EQ(one.whole(), zero.whole());
}

// As where rounds are faster than messages.
TEST(MemoryCheckpoints, BeginWhenTheStateBeforeIsWhole)
{
    auto optimizers = KeepingOwner::make();
    bool is_whole = true;
    std::vector<std::int64_t> begun;
    const auto nowhere = [](auto) {};
    MemoryCheckpoints checkpoints(5, optimizers, std::nullopt,
                                  {{nowhere, nowhere},
                                   [&](const Snapshot& snapshot) {
                                       begun.push_back(snapshot.round);
                                       is_whole = false;
                                   },
                                   [&] { return is_whole; }});
    EXPECT_FALSE(checkpoints.has_whole());
    for (std::int64_t round = 1; round <= 20; ++round) {
        Snapshot snapshot;
        snapshot.round = round;
        if (round == 3 || round == 13) is_whole = true;
        checkpoints.stands(snapshot);
        EXPECT_EQ(checkpoints.has_whole(), round >= 3);
    }
    EXPECT_EQ(begun, (std::vector<std::int64_t>{1, 6, 13}));
}

TEST(StateCopies, RefuseAPieceOutOfItsOrder)
{
    transport::Pool pool;
    auto part = pool.take(state_piece_head + 100);
    const StatePiece head{{5, 0, 1}, 100, 0, 100};
    std::memcpy(part->data(), &head, sizeof(head));
    StatePieces pieces(part, 3);
    StateCopies copies;
    pieces.next(pool);
    EXPECT_THROW(copies.take(pieces.next(pool)), Failure);
    EXPECT_THROW(copies.take(pool.take(8)), Failure);
}

}  // namespace
}  // namespace quorate
