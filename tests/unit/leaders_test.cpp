// SPDX-License-Identifier: BSD-2-Clause
// How nodes begin to be led, as the coordinator sees it. Workers are endpoints that say what the
// test has them say.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "ranks/leaders.hpp"
#include "transport/thread_endpoint.hpp"

namespace quorate {
namespace {

constexpr std::int64_t parameters = 4;

// Three workers on one node, which have loaded their shards.
class LeadersOfANode : public testing::Test, private Membership::Listener {
protected:
    LeadersOfANode()
    {
        for (int rank = 1; rank <= 3; ++rank) {
            auto& worker = workers_.emplace_back(
                std::make_unique<transport::ThreadEndpoint>(threads_, rank, "node"));
            worker->send(0, transport::Tag::ready,
                         encode({.shard = 0,
                                 .info = {.rank = rank, .host = "node", .rows = 1, .columns = 0},
                                 .support = Support::all(parameters)},
                                worker->pool()));
        }
        membership_.set_groups(groups_);
        receive();
    }

    void begin() { leaders_.begin(groups_, std::vector<SharedAddress>(3, {1, 0, 0})); }
    void receive()
    {
        while (auto message = mailbox_.receive())
            if (!leaders_.take(*message)) membership_.take(*message);
    }
    void end(Worker worker)
    {
        workers_[static_cast<std::size_t>(worker)].reset();
        membership_.find_dead();
        ASSERT_TRUE(membership_.is_dead(worker));
    }
    // Whether the worker was asked for an answer; it then says that it can read all memory.
    bool answers(Worker worker)
    {
        auto& endpoint = *workers_[static_cast<std::size_t>(worker)];
        const auto asked = endpoint.receive();
        if (!asked || asked->tag != transport::Tag::peers) return false;
        endpoint.send(0, transport::Tag::met, encode_values(endpoint.pool(), std::int64_t{1}));
        receive();
        return true;
    }

    void forgets(Worker) override {}
    void has_loaded(Worker) override {}
    void has_died(Worker worker, bool replaced) override { leaders_.has_died(worker, replaced); }
    void is_back(Worker) override {}

    const std::vector<int> groups_ = {0, 0, 0};
    transport::Threads threads_{4};
    transport::ThreadEndpoint endpoint_{threads_, 0, "another"};
    std::vector<std::unique_ptr<transport::ThreadEndpoint>> workers_;
    CoordinatorMailbox mailbox_{endpoint_, 60};
    Membership membership_{mailbox_, *this, {{1, 2, 3}, {}, {}}, parameters};
    Leaders leaders_{mailbox_, membership_, parameters, Wire::binary64};
};

TEST_F(LeadersOfANode, BeginWhenAllCanReadWhatTheOthersWrite)
{
    begin();
    for (const Worker worker : {0, 1, 2}) {
        EXPECT_TRUE(leaders_.is_beginning());
        EXPECT_FALSE(leaders_.lead(worker));
        EXPECT_TRUE(answers(worker));
    }
    EXPECT_FALSE(leaders_.is_beginning());
    EXPECT_TRUE(leaders_.lead(2));
}

// One that has loaded its shard may die while the coordinator waits for those of others. Nobody
// tells of that death again, so an answer of it would be awaited for ever.
TEST_F(LeadersOfANode, DoNotWaitForAWorkerThatDiedBeforeItsNodeMet)
{
    end(2);
    begin();
    EXPECT_FALSE(leaders_.is_beginning());
    EXPECT_FALSE(answers(0));
    EXPECT_FALSE(leaders_.lead(0));
}

TEST_F(LeadersOfANode, DoNotWaitForAWorkerThatDiesWhileItsNodeMeets)
{
    begin();
    EXPECT_TRUE(answers(0));
    EXPECT_TRUE(answers(1));
    EXPECT_TRUE(leaders_.is_beginning());
    end(2);
    EXPECT_FALSE(leaders_.is_beginning());
    EXPECT_FALSE(leaders_.lead(0));
}

}  // namespace
}  // namespace quorate
