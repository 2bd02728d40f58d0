// SPDX-License-Identifier: BSD-2-Clause
// What a worker's rank computes for a task and writes into messages. No MPI is started.
#include "ranks/task_execution.hpp"

#include <gtest/gtest.h>

#include "compute/begin_work.hpp"
#include "model/model.hpp"
#include "simulation.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace quorate {
namespace {

using namespace test;
using Reals = std::vector<double>;

constexpr Version version = 7;
const Reals model_point = {0.5, -1, 0.25};

// What a message says of one part.
struct Told {
    std::vector<Version> versions;
    Reals values;
};

class Execution : public ::testing::Test {
protected:
    Execution() : path_(folder_.file("d.h5"))
    {
        write_tiny(path_);
        data_.emplace(path_);
        const auto all = settings(entry(models(), "ridge").options, {});
        model_ = entry(models(), "ridge").make(all, data_->shape());
        needs_.blocks = {{0, 10}, {10, 8}, {18, 6}};
        needs_.shard = {{0, 1, 2}};
        batches_.emplace(needs_, 1, 0);
    }

    Computing computing(Wire wire = Wire::binary64) const
    {
        return {*model_, &*batches_, 5, 1, 0, wire};
    }

    // Reads messages as the coordinator does. @return for each message its parts
    std::vector<std::vector<Told>> messages_of(const Plan& plan, Wire wire)
    {
        const auto stragglers = make_stragglers({}, 1);
        const ByzantineWorkers nobody;
        transport::Pool pool;
        WorkerContext context{computing(wire), stragglers.models(0), nobody, pool, nullptr, 0,
                              shard_};
        context.store.emplace(*data_, needs_, 0, *model_);
        context.points[version] = {nullptr, model_point};
        TaskMessage message;
        message.plan = plan;
        message.inputs = {{version, TaskMessage::Travel::known}};
        context.straggling.begin(context.stragglers, 0, 0, 1, 0);
        TaskExecution execution(context, 3, message, 0, 0);
        std::vector<std::vector<Told>> all;
        while (!execution.done())
            if (execution.step()) all.push_back(read(*execution.take_message(0, 0), wire));
        return all;
    }

    std::vector<Told> read(const transport::Bytes& bytes, Wire wire) const
    {
        quorate::MessageReader in(bytes);
        const auto head = in.get<ContributionHead>();
        EXPECT_EQ(head.shard, shard_);
        std::vector<PartHead> parts;
        for (int i = 0; i < head.parts; ++i) parts.push_back(in.get<PartHead>());
        std::vector<Told> told(parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i)
            for (std::int64_t item = 0; item < parts[i].versions; ++item)
                told[i].versions.push_back(in.get<Version>());
        with_number(wire, [&]<class Number>(Number) {
            const auto values = in.numbers<Number>(static_cast<std::size_t>(head.values));
            std::size_t at = 0;
            for (std::size_t i = 0; i < parts.size(); ++i)
                for (std::int64_t k = 0; k < parts[i].length; ++k)
                    told[i].values.push_back(static_cast<double>(values[at++]));
        });
        return told;
    }

    // The gradients of these blocks, computed at once.
    Reals sum_of(const std::vector<int>& blocks) const
    {
        Part part;
        for (const int block : blocks) part.items.push_back({.block = block});
        const Store store(*data_, needs_, 0, *model_);
        Reals sum(3);
        const auto with = computing();  // which the work refers to
        const auto work = begin_work(with, store.view(), part, {{model_point, 0}}, {}, sum);
        while (!work->done()) work->step();
        return sum;
    }

    Folder folder_;
    std::string path_;
    std::optional<DataSet> data_;
    std::unique_ptr<Model> model_;
    Needs needs_;
    std::optional<Batches> batches_;
    ShardNumber shard_ = 4;
};

TEST_F(Execution, PartsOfCachedGradientsTravelWithTheirOwnVersionsAlone)
{
    Plan plan;
    for (const auto& blocks : {std::vector{0, 2}, std::vector{1}}) {
        auto& part = plan.parts.emplace_back();
        for (const int block : blocks)
            part.items.push_back({.block = block, .operation = Item::Operation::cached});
    }
    for (const auto wire : {Wire::binary64, Wire::binary32})
        for (const bool each : {false, true}) {
            plan.each_when_ready = each;
            const auto messages = messages_of(plan, wire);
            ASSERT_EQ(messages.size(), each ? 2U : 1U);
            const auto& first = messages[0][0];
            const auto& second = each ? messages[1][0] : messages[0][1];
            EXPECT_EQ(first.versions, (std::vector<Version>{version, version}));
            EXPECT_EQ(second.versions, (std::vector<Version>{version}));
            const auto expect = [](const Reals& got, const Reals& right) {
                ASSERT_EQ(got.size(), right.size());
                for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], right[i], 1e-5);
            };
            expect(first.values, sum_of({0, 2}));
            expect(second.values, sum_of({1}));
        }
}

}  // namespace
}  // namespace quorate
