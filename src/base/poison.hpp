// SPDX-License-Identifier: BSD-2-Clause
// A checker for memory that is used again while somebody may still read it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>

#include "base/numbers.hpp"

namespace quorate {

/// Fills memory that is about to be used again with NaN, if QUORATE_POISON is set. A reader who
/// comes too late then computes NaN, which no run survives, instead of a value that is a little
/// wrong.
inline void poison(Numbers values)
{
    static const bool wanted = std::getenv("QUORATE_POISON") != nullptr;
    if (!wanted) return;
    values.visit([]<class T>(std::span<T> all) {
        std::ranges::fill(all, std::numeric_limits<T>::quiet_NaN());
    });
}

}  // namespace quorate
