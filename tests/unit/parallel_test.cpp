// SPDX-License-Identifier: BSD-2-Clause
// Loops that threads share.
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace quorate {
namespace {

TEST(InParallel, CallsForEachNumberOnce)
{
    for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U})
        for (const int threads : {1, 2, 3, 16}) {
            std::vector<std::atomic<int>> calls(count);
            in_parallel(count, threads, [&](std::size_t i) { ++calls[i]; });
            for (const auto& one : calls) EXPECT_EQ(one, 1);
        }
}

TEST(InParallel, ThrowsWhatACallThrew)
{
    for (const int threads : {1, 4}) {
        const auto throwing = [](std::size_t i) {
            if (i == 17) throw std::runtime_error("seventeen");
        };
        EXPECT_THROW(in_parallel(100, threads, throwing), std::runtime_error);
        std::atomic<int> calls = 0;
        in_parallel(100, threads, [&](std::size_t) { ++calls; });  // it works again
        EXPECT_EQ(calls, 100);
    }
}

TEST(InParallel, IsAPlainLoopInsideOfItself)
{
    std::atomic<int> calls = 0;
    in_parallel(8, 4, [&](std::size_t) {
        const auto thread = std::this_thread::get_id();
        in_parallel(8, 4, [&](std::size_t) {
            EXPECT_EQ(std::this_thread::get_id(), thread);
            ++calls;
        });
    });
    EXPECT_EQ(calls, 64);
}

TEST(InParallel, ServesSeveralCallersAtOnce)
{
    std::atomic<int> calls = 0;
    {
        std::vector<std::jthread> callers;
        for (int caller = 0; caller < 4; ++caller)
            callers.emplace_back([&] {
                for (int loop = 0; loop < 50; ++loop)
                    in_parallel(20, 3, [&](std::size_t) { ++calls; });
            });
    }
    EXPECT_EQ(calls, 4 * 50 * 20);
}

}  // namespace
}  // namespace quorate
