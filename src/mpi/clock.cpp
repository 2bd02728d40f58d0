// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/clock.hpp"

#include <time.h>

namespace quorate {

Seconds clock_seconds()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<Seconds>(now.tv_sec) + 1e-9 * static_cast<Seconds>(now.tv_nsec);
}

}  // namespace quorate
