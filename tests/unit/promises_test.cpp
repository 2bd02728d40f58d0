// SPDX-License-Identifier: BSD-2-Clause
// Each promise of schemes, broken.
#include "scheme/promises.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support.hpp"

namespace {

using namespace quorate;

constexpr auto nan_promised = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<const Plan> plan_of(Part part)
{
    return std::make_shared<const Plan>(Plan{{std::move(part)}});
}

// Two workers, of which each stores a block, and a scheme that keeps one contribution.
class PromisesTest : public ::testing::Test {
protected:
    Needs needs_ = {.blocks = {{0, 5}, {5, 5}}, .shard = {{0}, {1}}, .coded = {}, .kept = 1};
    std::optional<Promises> promises_;

    void SetUp() override { promises_.emplace(needs_, "it"); }
    // Gives worker 0 a task and has it answer. @return the contribution
    ContributionId answered(Part part = {{Item{0}}})
    {
        const auto task = next_++;
        promises_->check(Dispatch{task, 0, plan_of(std::move(part)), {0}, {}, {}});
        promises_->note(Arrived{{{{.worker = 0,
                                   .part = 0,
                                   .task = task,
                                   .draw = 0,
                                   .samples = 5,
                                   .oldest = 0,
                                   .newest = 0},
                                  task + 100}}});
        return task + 100;
    }
    template <class Action>
    std::string broken_by(const Action& action)
    {
        return test::refusal([&] { promises_->check(action); });
    }
    std::string broken_by_part(Part part, TaskControl control = {})
    {
        return broken_by(Dispatch{next_, 0, plan_of(std::move(part)), {0}, {}, control});
    }
    std::string broken_by_step(std::vector<Term> terms, double divisor = 10, double error = 0)
    {
        return broken_by(Step{std::move(terms), divisor, error});
    }

    TaskId next_ = 0;
};

TEST_F(PromisesTest, OfTasks)
{
    const auto plan = plan_of({{Item{0}}});
    EXPECT_EQ(broken_by(Dispatch{0, 2, plan, {0}, {}, {}}),
              "it gives task 0 to worker 2, but there are 2");
    EXPECT_EQ(broken_by(Dispatch{0, 0, nullptr, {0}, {}, {}}), "it gives task 0 without a part");
    EXPECT_EQ(broken_by(Dispatch{0, 0, plan, {1}, {}, {}}),
              "it gives task 0 the point of version 1, but the newest is 0");
    EXPECT_EQ(broken_by_part(Part{{Item{1}}}),
              "it gives task 0 with block 1, which worker 0 does not store");
    EXPECT_EQ(broken_by_part(Part{{Item{0, 1}}}), "it gives task 0 with input 1, but it has 1");
    EXPECT_EQ(broken_by_part(Part{{Item{0, 0, nan_promised}}}),
              "it gives task 0 a coefficient of nan");
    EXPECT_EQ(broken_by_part(Part{{Item{0, 0, 1, Item::Operation::product}}}),
              "it gives task 0 products, which only coded storage has");
    EXPECT_EQ(broken_by_part(Part{{Item{0}, Item{0, 0, 1, Item::Operation::cached}}}),
              "it gives task 0 a part of several operations");
    EXPECT_NE(broken_by_part(Part{{Item{0}}, {}, true}, {.draw = own_count}).find("count keys"),
              std::string::npos);
    EXPECT_EQ(broken_by_part(Part{{Item{0}}, {1}, true}),
              "it gives task 0 a part that is held and folded");
    EXPECT_NE(broken_by_part(Part{{Item{0}}, {1}}).find("places=True"), std::string::npos);
    EXPECT_NE(
        broken_by_part(Part{{Item{0}, Item{0}}}, {.budget = {.samples = 3}}).find("limits task 0"),
        std::string::npos);
    answered();
    EXPECT_EQ(broken_by(Dispatch{0, 0, plan, {0}, {}, {}}),
              "it gives task 0 after task 0: numbers must ascend");
    promises_->check(Close{0, 0});
    promises_->note(Stepped{1});
    EXPECT_EQ(broken_by(Dispatch{1, 0, plan, {0}, {}, {}}),
              "it gives task 1 the point of version 0, which is gone: no open task names it");
    EXPECT_EQ(broken_by(Close{3, 1}), "it closes tasks 3 to 1");
    EXPECT_EQ(broken_by(SetTimer{0, nan_promised}), "it sets timer 0 to no time");
}

TEST_F(PromisesTest, OfFolds)
{
    needs_.places = true;
    SetUp();
    EXPECT_EQ(
        broken_by_part(Part{{Item{0}, Item{0}}, {1, 1, 1}}),
        "it gives task 0 a fold of 3 coefficients for 2 items: give as many for each gradient");
    EXPECT_EQ(broken_by_part(Part{{Item{0}}, {nan_promised}}),
              "it gives task 0 a coefficient of nan");
}

TEST_F(PromisesTest, OfCodedRows)
{
    needs_.coded = {{3, {}}, {3, {}}};
    SetUp();
    EXPECT_EQ(broken_by_part(Part{{Item{0, 0, 1, Item::Operation::product, {2, 2}}}}),
              "it gives task 0 coded rows that worker 0 does not store");
    EXPECT_EQ(broken_by(Combine{{{7, 1, {}, 0}}}), "it names contribution 7, which is gone");
}

TEST_F(PromisesTest, OfSteps)
{
    const auto id = answered();
    EXPECT_EQ(broken_by_step(std::vector<Term>{}), "it makes a step without contributions");
    EXPECT_EQ(broken_by_step({{id}}, 0), "it makes a step that divides by 0");
    EXPECT_EQ(broken_by_step({{id}, {id}}),
              fmt::format("it makes a step in which contribution {} is named twice", id));
    EXPECT_EQ(broken_by_step({{id, nan_promised}}), "it makes a step with the weight nan");
    EXPECT_EQ(broken_by(Step{.terms = {{id}}, .divisor = 1, .error = 0, .model = 1}),
              "it makes a step of model 1, of 1");
    EXPECT_EQ(broken_by_step({{id}}, 1, nan_promised),
              "it makes a step with scale 1, share 1 and error nan");
    EXPECT_EQ(broken_by(Step{.terms = {}, .divisor = 1, .error = 0, .placed = {{id, 1, {}, 0}}}),
              "it places contributions: its Needs must say places=True");
    promises_->check(Step{{{id}}, 1, 0});
    EXPECT_EQ(broken_by_step({{id}}), fmt::format("it names contribution {}, which is gone", id));
    EXPECT_EQ(broken_by(Combine{}), "it combines products, which only coded storage has");
    const auto head = answered({{Item{0}}, {}, true});
    EXPECT_NE(broken_by_step({{head}}).find("its values are at its worker"), std::string::npos);
    needs_.exact = true;
    SetUp();
    EXPECT_EQ(broken_by_step({{answered()}}, 1, 0.5),
              "it makes a step with an error of 0.5, but its Needs say that all are exact");
}

TEST_F(PromisesTest, OfWhatIsKept)
{
    const auto one = answered(), other = answered();
    promises_->check(Step{{{one, 1, true}}, 1, 0});
    EXPECT_EQ(broken_by_step({{other, 1, true}}),
              "it keeps 2 contributions, but its needs say at most 1: give Needs(..., kept=N)");
    promises_->check(Close{0, 1});
    EXPECT_TRUE(promises_->in_use().empty());
    EXPECT_EQ(broken_by(Fill{0, 1, {other}}), "it fills slot 0, but has 0");
    needs_.slots = 2;
    SetUp();
    next_ = 0;
    const auto held = answered();
    EXPECT_EQ(broken_by(Fill{0, 1, {held + 1, held}}),
              "it fills slot 0 with contributions that do not ascend");
    promises_->check(Fill{0, 1, {held}});
    EXPECT_EQ(broken_by(Fill{1, 1, {held}}),
              fmt::format("it fills two slots with contribution {}", held));
    EXPECT_EQ(broken_by_step({{held}}),
              fmt::format("it makes a step that ends contribution {}, which the table has", held));
    // Points: two contributions of tasks at different ones.
    needs_.kept = 3;
    needs_.points = 1;
    SetUp();
    next_ = 0;
    const auto first = answered();
    promises_->check(Step{{{first, 1, true}}, 1, 0});
    promises_->note(Stepped{1});
    promises_->check(Dispatch{next_, 0, plan_of({{Item{0}}}), {1}, {}, {}});
    promises_->note(Arrived{{{{.worker = 0,
                               .part = 0,
                               .task = next_,
                               .draw = 0,
                               .samples = 5,
                               .oldest = 1,
                               .newest = 1},
                              200}}});
    EXPECT_EQ(broken_by_step({{200, 1, true}}),
              "it keeps contributions whose tasks name 2 points, but its needs say at most 1: give "
              "Needs(..., points=M)");
}

}  // namespace
