// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
#include <future>
#include <thread>
#include <utility>

#include "tables/source.hpp"

namespace quorate {

/// Parses the blocks of a text file on all cores, and consumes the results in the order of the
/// file. At most two blocks for each core are in memory.
/// @param parse    Parsed(TextBlock); called by several threads. The first exception in the order
///                 of the file is thrown here
/// @param consume  bool(Parsed&&); called by this thread; returns false to stop
template <class Parse, class Consume>
void parse_blocks(TextBlocks& blocks, Parse parse, Consume consume)
{
    using Parsed = decltype(parse(std::declval<TextBlock>()));
    const std::size_t most = 2 * std::size_t{std::max(1U, std::thread::hardware_concurrency())};
    std::deque<std::future<Parsed>> running;
    const auto take = [&] {
        auto first = std::move(running.front());
        running.pop_front();
        return consume(first.get());
    };
    for (TextBlock block; blocks.next(block);) {
        running.push_back(std::async(std::launch::async, parse, std::move(block)));
        if (running.size() == most && !take()) return;
    }
    while (!running.empty())
        if (!take()) return;
}

}  // namespace quorate
