// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/sequential/straggler_pattern.hpp"

#include <algorithm>

namespace quorate {

bool conforms(const Bursty& model, const std::deque<Stragglers>& pattern)
{
    const auto window = std::min(pattern.size(), static_cast<std::size_t>(model.window));
    const auto first = pattern.end() - static_cast<std::ptrdiff_t>(window);
    int stragglers = 0;
    for (std::size_t worker = 0; worker < pattern.back().size(); ++worker) {
        const auto straggles = [worker](const Stragglers& those) { return those[worker]; };
        const auto begin = std::find_if(first, pattern.end(), straggles);
        if (begin == pattern.end()) continue;
        const auto end = std::find_if(pattern.rbegin(), pattern.rend(), straggles).base();
        if (end - begin > model.burst) return false;
        ++stragglers;
    }
    return stragglers <= model.workers;
}

}  // namespace quorate
