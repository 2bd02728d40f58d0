// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <iterator>
#include <utility>

namespace quorate {

/// Erases the elements of a sequence for which the predicate holds. It is asked once for each, in
/// their order, and may change its element, which std::erase_if forbids. O(elements).
template <class Sequence, class Predicate>
void drop_if(Sequence& sequence, Predicate&& predicate)
{
    auto keep = sequence.begin();
    for (auto at = sequence.begin(); at != sequence.end(); ++at) {
        if (predicate(*at)) continue;
        if (keep != at) *keep = std::move(*at);
        ++keep;
    }
    sequence.erase(keep, sequence.end());
}

}  // namespace quorate
