// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "commands/slow_workers.hpp"

namespace quorate {
namespace {

trace::Arrival answer(int worker, bool used, double seconds)
{
    trace::Arrival row{};
    row.worker = worker;
    row.used = used ? 1 : 0;
    row.arrived = seconds;
    return row;
}

TEST(SlowWorkers, AreThoseWhoseAnswersComeLateOrTakeLong)
{
    SlowWorkers workers(6);
    EXPECT_TRUE(workers.slow().empty());
    EXPECT_EQ(workers.used(), 0);
    for (int round = 0; round < 200; ++round) {
        for (int worker = 0; worker < 4; ++worker) workers.arrived(answer(worker, true, 1));
        workers.arrived(answer(4, true, 2));
        if (round % 4 == 0) workers.arrived(answer(5, false, 1));
        workers.round_over();
    }
    EXPECT_EQ(workers.slow(), (std::vector<int>{5, 4}));
    EXPECT_NEAR(workers.used(), 5, 1e-9);
    // What was long ago is forgotten.
    for (int round = 0; round < 400; ++round) {
        for (int worker = 0; worker < 6; ++worker) workers.arrived(answer(worker, worker != 0, 1));
        workers.round_over();
    }
    EXPECT_EQ(workers.slow(), (std::vector<int>{0}));
}

}  // namespace
}  // namespace quorate
