// SPDX-License-Identifier: BSD-2-Clause
// Parts of several items that a limit of seconds cuts short: whole items count, the others do not.
#include "scheme/whole_items.hpp"

#include <gtest/gtest.h>

#include "compute/begin_work.hpp"
#include "compute/held_gradients.hpp"
#include "compute/store.hpp"
#include "data/data_set_writer.hpp"
#include "fleet/virtual_fleet.hpp"
#include "model/model.hpp"
#include "simulation.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using namespace test;

Needs needs_of_blocks(const std::vector<Block>& blocks)
{
    Needs needs;
    needs.blocks = blocks;
    needs.shard = {{}};
    for (int j = 0; j < std::ssize(blocks); ++j) needs.shard[0].push_back(j);
    return needs;
}

Part part_of(const std::vector<int>& blocks)
{
    Part part;
    for (const int block : blocks) part.items.push_back({.block = block});
    return part;
}

TEST(WholeItems, FollowFromTheSamples)
{
    const Batches batches(needs_of_blocks({{0, 10}, {10, 20}, {30, 30}}), 0, 0);
    const auto part = part_of({1, 0, 2});
    EXPECT_EQ(whole_items(batches, part, 0), 0);
    EXPECT_EQ(whole_items(batches, part, 20), 1);
    EXPECT_EQ(whole_items(batches, part, 30), 2);
    EXPECT_EQ(whole_items(batches, part, 60), 3);
    for (const int samples : {-1, 10, 21, 59, 61})
        EXPECT_EQ(whole_items(batches, part, samples), std::nullopt) << samples;
}

TEST(WholeItems, NeedALimitOfSecondsAlone)
{
    const Plan several{.parts = {part_of({0, 1})}}, one{.parts = {part_of({0})}},
        parts{.parts = {part_of({0}), part_of({1})}};
    EXPECT_TRUE(can_be_limited({.seconds = 1}, several));
    EXPECT_TRUE(can_be_limited({.samples = 3, .seconds = 1, .micro_batch = 2}, one));
    EXPECT_FALSE(can_be_limited({.samples = 3}, several));
    EXPECT_FALSE(can_be_limited({.seconds = 1, .micro_batch = 2}, several));
    EXPECT_FALSE(can_be_limited({.seconds = 1}, parts));
    EXPECT_TRUE(takes_whole_items({.seconds = 1}, several.parts[0]));
    EXPECT_FALSE(takes_whole_items({.seconds = 1}, one.parts[0]));
    EXPECT_FALSE(takes_whole_items({}, several.parts[0]));
}

// ---- under the virtual clock --------------------------------------------------------------------

struct Done {
    Seconds arrived;
    std::int64_t samples;
    int items;
    Seconds compute, delay;
    bool operator==(const Done&) const = default;
};

// What a worker that takes an eighth of a second a row does of blocks of 20, 10 and 30 rows.
Done done_within(Seconds seconds, const std::string& delay = "none",
                 const std::string& slowdown = "none")
{
    const auto stragglers = make_stragglers({{"delay", delay}, {"slowdown", slowdown}}, 1);
    const auto needs = needs_of_blocks({{0, 10}, {10, 20}, {30, 30}});
    const Batches batches(needs, 0, 0);
    const ByzantineWorkers nobody;
    Recipes recipes(needs, batches, nobody, 0);
    VirtualFleet fleet(recipes, VirtualTimes{stragglers.models(0.125), {}});
    auto plan = std::make_shared<const Plan>(Plan{.parts = {part_of({1, 0, 2})}});
    fleet.dispatch({.task = 0,
                    .worker = 0,
                    .plan = plan,
                    .inputs = {0},
                    .control = {.draw = 0, .budget = {.seconds = seconds}}},
                   {nullptr});
    const std::atomic<bool> stop = false;
    const auto one = fleet.wait(100, stop).at(0);
    fleet.release(one.handle);
    return {one.arrived, one.samples, one.items, one.compute, one.delay};
}

TEST(WholeItems, OfASimulatedWorkerAreThoseForWhichThereIsTime)
{
    EXPECT_EQ(done_within(2.4), (Done{2.4, 0, 0, 2.4, 0}));
    EXPECT_EQ(done_within(2.5),
              (Done{2.5, 20, 1, 2.5, 0}));  // an item that ends at the limit counts
    EXPECT_EQ(done_within(3.7), (Done{3.7, 20, 1, 3.7, 0}));
    EXPECT_EQ(done_within(5), (Done{5, 30, 2, 5, 0}));
    EXPECT_EQ(done_within(7.5), (Done{7.5, 60, 3, 7.5, 0}));
    EXPECT_EQ(done_within(99), (Done{7.5, 60, 3, 7.5, 0}));  // who is done does not wait
}

TEST(WholeItems, OfASlowWorkerAreFewer)
{
    EXPECT_EQ(done_within(5, "constant:1"), (Done{5, 30, 2, 4, 1}));
    EXPECT_EQ(done_within(5, "constant:1.5"), (Done{5, 20, 1, 3.5, 1.5}));
    EXPECT_EQ(done_within(5, "constant:6"), (Done{5, 0, 0, 0, 5}));
    EXPECT_EQ(done_within(5, "none", "constant:2"), (Done{5, 20, 1, 5, 0}));
}

// ---- their sums ---------------------------------------------------------------------------------

class Sums : public ::testing::Test {
protected:
    Sums() : path_(folder_.file("d.h5"))
    {
        DataSetWriter writer(path_, "d",
                             {.columns = 4, .task = LearningTask::regression, .dense = true}, false,
                             false);
        for (const auto split : {Split::train, Split::test}) {
            writer.begin(split);
            for (int r = 0; r < 60; ++r)
                writer.add(std::vector{0.1 * r, 1.0 / (1 + r), r % 7 - 3.0, 0.3}, r % 5 - 2.0);
        }
        writer.finish({}, {});
        data_.emplace(path_);
        const auto all = settings(entry(models(), "ridge").options, {});
        model_ = entry(models(), "ridge").make(all, data_->shape());
        needs_ = needs_of_blocks({{0, 10}, {10, 20}, {30, 30}});
        store_.emplace(*data_, needs_, 0, *model_);
    }

    struct Made {
        std::vector<double> sum;
        std::int64_t samples;
        double loss;
    };
    /// The sum of so many whole items, after so many chunks of them.
    Made made(std::int64_t items, int chunks, int threads, std::int64_t batch) const
    {
        const Batches batches(needs_, 3, batch);
        const Computing computing{*model_, &batches, 3, threads};
        const auto part = part_of({1, 0, 2});
        const std::vector<double> point = {0.5, -1, 0.25, 2};
        std::vector<double> sum(4, 99.0);
        const auto work = begin_work(computing, store_->view(), part, {{point, 7}},
                                     {.samples = {}, .items = items}, sum);
        for (int i = 0; i < chunks && !work->done(); ++i) {
            EXPECT_GT(work->ahead(), 0);
            work->step();
        }
        if (!work->done()) work->finish();
        return {sum, work->samples(), work->losses().plain};
    }

    Folder folder_;
    std::string path_;
    std::optional<DataSet> data_;
    std::unique_ptr<Model> model_;
    Needs needs_;
    std::optional<Store> store_;
};

TEST_F(Sums, OfAPartThatWasCutShortHaveTheBitsOfItsWholeItemsAlone)
{
    constexpr int to_the_end = 1000;
    for (const int threads : {1, 2})
        for (const std::int64_t batch : {0, 24}) {
            std::vector<Made> whole;
            for (int items = 0; items <= 3; ++items)
                whole.push_back(made(items, to_the_end, threads, batch));
            EXPECT_EQ(whole[0].sum, std::vector<double>(4));
            const Batches batches(needs_, 3, batch);
            for (int chunks = 0; chunks <= 25; ++chunks) {
                const auto cut = made(3, chunks, threads, batch);
                const auto items = whole_items(batches, part_of({1, 0, 2}), cut.samples);
                ASSERT_TRUE(items.has_value()) << cut.samples;
                const auto& same = whole[static_cast<std::size_t>(*items)];
                EXPECT_TRUE(same_bits(cut.sum, same.sum));
                EXPECT_EQ(cut.samples, same.samples);
                EXPECT_EQ(cut.loss, same.loss);
            }
            EXPECT_EQ(made(3, 25, threads, batch).samples, batch == 0 ? 60 : 24);
        }
}

TEST_F(Sums, OfFoldedPartsLeaveNothingHeld)
{
    const Batches batches(needs_, 3, 0);
    const Computing computing{*model_, &batches, 3, 1};
    const std::vector<double> point = {0.5, -1, 0.25, 2};
    for (const bool held : {false, true}) {
        auto part = part_of({1, 0, 2});
        if (held)
            part.held = true;
        else
            part.fold = {1, 2, 3, 4, 5, 6};
        HeldGradients gradients;
        std::vector<double> sum(4);
        const auto work = begin_work(computing, store_->view(), part, {{point, 7}}, {},
                                     std::span(sum).first(held ? 4 : 2), {.gradients = &gradients});
        while (!work->done()) work->step();
        for (const int block : {0, 1, 2}) EXPECT_EQ(gradients.find(block, 7) != nullptr, held);
    }
}

}  // namespace
}  // namespace quorate
