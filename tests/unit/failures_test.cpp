// SPDX-License-Identifier: BSD-2-Clause
#include "engine/failures.hpp"

#include <gtest/gtest.h>

#include <set>

namespace quorate {

namespace {

constexpr double between = 90, repair = 10;

}  // namespace

// Of alternating renewal processes: each unit is away for repair / (between + repair) of the time.
TEST(Failures, UnitsAreAwayForTheirShareOfTheTime)
{
    constexpr int workers = 200;
    constexpr double end = 5000;
    Failures failures(between, repair, 1, workers, 3);
    std::set<Worker> away;
    double seconds = 0, last = 0;
    int count = 0;
    while (failures.next() < end) {
        const auto now = failures.next();
        EXPECT_GE(now, last);
        seconds += (now - last) * static_cast<double>(away.size());
        last = now;
        for (const auto& change : failures.pass()) {
            const bool fails = change.kind == Change::Kind::left;
            EXPECT_TRUE(fails ? away.insert(change.worker).second : away.erase(change.worker) == 1);
            count += fails;
        }
        EXPECT_EQ(failures.joins(), !away.empty());
    }
    EXPECT_NEAR(seconds / (workers * end), repair / (between + repair), 0.005);
    EXPECT_NEAR(count, workers * end / (between + repair), 300);
}

TEST(Failures, WorkersOfAHostFailTogether)
{
    Failures hosts(between, repair, 3, 7, 5);
    std::set<std::size_t> sizes;
    for (int i = 0; i < 100; ++i) {
        const auto changes = hosts.pass();
        sizes.insert(changes.size());
        for (const auto& change : changes) {
            EXPECT_EQ(change.kind, changes[0].kind);
            EXPECT_EQ(change.worker / 3, changes[0].worker / 3);
        }
    }
    EXPECT_EQ(sizes, (std::set<std::size_t>{1, 3}));  // worker 6 is alone
}

TEST(Failures, OfAUnitDependOnTheSeedAndTheUnitOnly)
{
    const auto of_worker_1 = [](int workers, std::uint64_t seed) {
        Failures failures(between, repair, 1, workers, seed);
        std::vector<Seconds> times;
        while (times.size() < 5) {
            const auto now = failures.next();
            if (failures.pass()[0].worker == 1) times.push_back(now);
        }
        return times;
    };
    EXPECT_EQ(of_worker_1(2, 7), of_worker_1(9, 7));
    EXPECT_NE(of_worker_1(2, 7), of_worker_1(2, 8));
}

}  // namespace quorate
