// SPDX-License-Identifier: BSD-2-Clause
#include "transport/clock.hpp"

#include <chrono>

namespace quorate {

Seconds clock_seconds()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<Seconds>(now).count();
}

}  // namespace quorate
