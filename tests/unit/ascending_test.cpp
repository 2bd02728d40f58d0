// SPDX-License-Identifier: BSD-2-Clause
#include "engine/ascending.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace quorate {
namespace {

struct Element {
    std::int64_t id;
    int value = 0;
    bool gone = false;
};

TEST(Ascending, HoldsWhatAMapHolds)
{
    std::mt19937 random(1);
    Ascending<Element> all;
    std::map<std::int64_t, int> expected;
    std::int64_t next = 0;
    for (int step = 0; step < 20000; ++step) {
        // Old ones are dropped more often, and at times nearly all.
        const bool many = step / 1000 % 3 == 0;
        if (expected.empty() || random() % (many ? 3 : 2) == 0) {
            next += 1 + random() % 2;
            all.add({.id = next, .value = step});
            expected[next] = step;
        } else {
            auto at = expected.begin();
            if (random() % 4 == 0) std::advance(at, random() % expected.size());
            all.drop(*all.find(at->first));
            expected.erase(at);
        }
        const auto id = static_cast<std::int64_t>(random() % static_cast<unsigned>(next + 1));
        const auto known = expected.find(id);
        const auto* found = all.find(id);
        ASSERT_EQ(found != nullptr, known != expected.end());
        if (found) {
            ASSERT_EQ(found->value, known->second);
        }
        if (step % 50 != 0) continue;
        std::vector<std::int64_t> ids, wanted, some;
        all.for_each([&](const Element& one) { ids.push_back(one.id); });
        for (const auto& [each, value] : expected) wanted.push_back(each);
        ASSERT_EQ(ids, wanted);
        all.for_range(id, id + 40, [&](const Element& one) { some.push_back(one.id); });
        std::erase_if(wanted, [&](std::int64_t one) { return one < id || one > id + 40; });
        ASSERT_EQ(some, wanted);
    }
}

}  // namespace
}  // namespace quorate
