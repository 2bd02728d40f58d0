// SPDX-License-Identifier: BSD-2-Clause
// Who uses the library now: runs side by side, or one that adds to the registries.
#pragma once

#include <pybind11/pybind11.h>

#include <shared_mutex>

#include "base/error.hpp"

namespace quorate::bindings {

inline std::shared_mutex running;
/// How deep this thread is in a run: a callback may start another one.
inline thread_local int depth = 0;

/// While it lives, runs go on and nobody changes the registries. Without the GIL.
class Running {
public:
    Running()
    {
        if (depth++ == 0) running.lock_shared();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running()
    {
        if (--depth == 0) running.unlock_shared();
    }
};

/// While it lives, no run goes on. With the GIL, which it releases to wait.
class Exclusive {
public:
    /// @throws BadInput in a callback of a run
    Exclusive()
    {
        if (depth > 0)
            throw BadInput(
                "a component is added while a run goes on in this thread: add it before");
        const pybind11::gil_scoped_release release;
        running.lock();
    }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;
    ~Exclusive() { running.unlock(); }
};

}  // namespace quorate::bindings
