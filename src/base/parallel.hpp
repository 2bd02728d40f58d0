// SPDX-License-Identifier: BSD-2-Clause
// Loops shared out among threads of this process. Threads that have nothing to do sleep: those of
// OpenMP spin, which takes the cores from whatever else runs there, and only its environment could
// forbid it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

namespace quorate {

/// Cores that this process may use: OMP_NUM_THREADS, else those that the system lets it run on.
int usable_cores();

/// Processors of this host that run, whatever this process may use of them; at least 1.
int processors_of_host();

/// Calls f(0), ..., f(count - 1), in any order, on at most so many threads, of which the caller's
/// is one. Returns when all calls have. Inside of f it is a plain loop. Costs some microseconds a
/// thread.
/// @throws what a call threw, one of them; then others may not have been made
void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& f);

/// Calls f(first, last) for the ranges first..last-1 of so many elements that 0..size-1 are cut
/// into; the last one may be shorter. As in_parallel().
template <class F>
void ranges_in_parallel(std::size_t size, std::size_t range, int threads, F f)
{
    in_parallel((size + range - 1) / range, threads,
                [&](std::size_t part) { f(part * range, std::min((part + 1) * range, size)); });
}

}  // namespace quorate
