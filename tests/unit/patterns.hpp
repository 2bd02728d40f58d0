// SPDX-License-Identifier: BSD-2-Clause
// Sets of workers: those that do not answer, or those that do.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace quorate::test {

using Pattern = std::vector<int>;  // ascending

/// f of every set of s of n.
inline void for_all_patterns(int n, int s, const std::function<void(const Pattern&)>& f)
{
    Pattern pattern(static_cast<std::size_t>(s));
    std::iota(pattern.begin(), pattern.end(), 0);
    for (;;) {
        f(pattern);
        int at = s - 1;
        while (at >= 0 && pattern[static_cast<std::size_t>(at)] == n - s + at) --at;
        if (at < 0) return;
        ++pattern[static_cast<std::size_t>(at)];
        for (int i = at + 1; i < s; ++i)
            pattern[static_cast<std::size_t>(i)] = pattern[static_cast<std::size_t>(i - 1)] + 1;
    }
}

/// f of random sets of s of n.
inline void for_random_patterns(int n, int s, int count,
                                const std::function<void(const Pattern&)>& f)
{
    std::mt19937 generator(7);
    Pattern order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < count; ++i) {
        std::shuffle(order.begin(), order.end(), generator);
        Pattern pattern(order.begin(), order.begin() + s);
        std::ranges::sort(pattern);
        f(pattern);
    }
}

/// Those of n that are not in the pattern.
inline Pattern others(int n, const Pattern& pattern)
{
    Pattern rest;
    for (int i = 0; i < n; ++i)
        if (!std::ranges::binary_search(pattern, i)) rest.push_back(i);
    return rest;
}

}  // namespace quorate::test
