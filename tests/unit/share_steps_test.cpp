// SPDX-License-Identifier: BSD-2-Clause
// What hosts tell one another in a step over shares, message by message.
#include <gtest/gtest.h>

#include "fleet/share_steps.hpp"

namespace quorate {
namespace {

using Kind = ShareSteps::Kind;
using Messages = ShareSteps::Messages;

// Who sends what to whom, with its bytes, as text.
std::string words(const Messages& messages)
{
    static const char* const names[] = {"told", "added", "sum", "report", "point", "ended"};
    std::string all;
    for (const auto& one : messages)
        all += std::string(all.empty() ? "" : ", ") + names[static_cast<int>(one.kind)] + " " +
               std::to_string(one.from) + ">" + std::to_string(one.to) + " " +
               std::to_string(one.bytes);
    return all;
}

// Three hosts, of which 0 and 1 own a share: one of two blocks and one of one.
class Steps : public ::testing::Test {
protected:
    ShareSteps steps_{{0, 8192, 10000}, {{10, 20}, {30, 40}, {50, 60}}, 100};
    std::string receive(const Messages& messages)
    {
        Messages next;
        for (const auto& one : messages)
            for (const auto& more : steps_.receive(one)) next.push_back(more);
        last_ = next;
        return words(next);
    }
    Messages last_;
};

TEST_F(Steps, GoFromWhatIsToldToThePoint)
{
    EXPECT_TRUE(steps_.is_over());
    const auto told = steps_.tell(7);
    EXPECT_EQ(words(told), "told 0>1 107, told 0>2 107");
    // Hosts 0 and 2 have contributions. The coordinator's knows that at once.
    const auto begun = steps_.begin({{{1, 2}, 0.5}, {}, {{3, 4}, 0.25}});
    EXPECT_EQ(words(begun), "added 0>0 0");
    EXPECT_EQ(begun[0].work, 0.5);
    EXPECT_FALSE(steps_.is_over());
    EXPECT_EQ(receive(told), "added 2>2 0");
    const auto added = last_;
    EXPECT_EQ(receive(begun), "sum 0>1 102");
    const auto to_one = last_;
    EXPECT_EQ(receive(to_one), "");
    EXPECT_EQ(receive(added), "sum 2>0 103, sum 2>1 104");
    EXPECT_EQ(receive(last_),
              "point 0>1 130, point 0>2 150, report 1>0 108, point 1>0 120, "
              "point 1>2 160");
    const auto points = last_;
    EXPECT_FALSE(steps_.is_over());
    EXPECT_EQ(receive({points[2]}), "");
    EXPECT_TRUE(steps_.is_over());
    const auto ended = steps_.end();
    EXPECT_EQ(words(ended), "ended 0>1 100, ended 0>2 100");
    EXPECT_EQ(steps_.newest(0), 0);
    receive({points[0], points[1], points[3], points[4]});
    EXPECT_EQ(steps_.newest(0), 1);
    EXPECT_EQ(steps_.newest(1), 0);
    receive(ended);
    EXPECT_EQ(steps_.newest(1), 1);
    EXPECT_EQ(steps_.newest(2), 1);
}

TEST_F(Steps, APointIsThereOnlyAfterThoseBefore)
{
    // Returns what host 1 sends of the point, which is late.
    const auto step = [this] {
        receive(steps_.begin({{{1, 2}, 0}, {}, {}}));
        receive(last_);
        const auto late = last_;
        receive({late[0]});  // the report
        EXPECT_TRUE(steps_.is_over());
        return Messages{late[1], late[2]};
    };
    const auto first = step(), second = step();
    receive(second);
    EXPECT_EQ(steps_.newest(0), 0);
    receive(first);
    EXPECT_EQ(steps_.newest(0), 2);
    EXPECT_EQ(steps_.newest(2), 0);  // it does not know that they have ended
    EXPECT_EQ(steps_.steps(), 2);
}

}  // namespace
}  // namespace quorate
