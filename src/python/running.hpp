// SPDX-License-Identifier: BSD-2-Clause
// Who uses the library now: runs side by side, or one that adds to the registries.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "base/error.hpp"

namespace quorate::bindings {

/// Lets many runs through at once, or one change of the registries. Changes go first.
class Gate {
public:
    void begin_run()
    {
        std::unique_lock lock(mutex_);
        moved_.wait(lock, [this] { return waiting_ == 0 && !changing_; });
        ++runs_;
    }
    void end_run()
    {
        const std::lock_guard lock(mutex_);
        --runs_;
        moved_.notify_all();
    }
    /// @return false if runs did not end in time
    bool begin_change(std::chrono::seconds patience)
    {
        std::unique_lock lock(mutex_);
        ++waiting_;
        const bool granted =
            moved_.wait_for(lock, patience, [this] { return runs_ == 0 && !changing_; });
        --waiting_;
        if (granted)
            changing_ = true;
        else
            moved_.notify_all();
        return granted;
    }
    void end_change()
    {
        const std::lock_guard lock(mutex_);
        changing_ = false;
        moved_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable moved_;
    int runs_ = 0, waiting_ = 0;
    bool changing_ = false;
};

inline Gate gate;
/// How deep this thread is in a run: a callback may start another one.
inline thread_local int depth = 0;

/// While it lives, runs go on and nobody changes the registries. Without the GIL.
class Running {
public:
    Running()
    {
        if (depth++ == 0) gate.begin_run();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running()
    {
        if (--depth == 0) gate.end_run();
    }
};

/// While it lives, no run goes on. With the GIL, which it releases to wait.
class Exclusive {
public:
    /// @throws BadInput in a callback of a run, or if runs of other threads do not end
    Exclusive()
    {
        if (depth > 0)
            throw BadInput(
                "a component is added while a run goes on in this thread: add it before");
        const pybind11::gil_scoped_release release;
        if (!gate.begin_change(std::chrono::seconds(60)))
            throw BadInput("a component is added, but runs go on in other threads: add it before");
    }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;
    ~Exclusive() { gate.end_change(); }
};

/// Asks runs to stop; shared by all that belong together.
using Stop = std::atomic<bool>;

/// Runs that go on, to be stopped when the interpreter ends: their callbacks would find none.
class Runs {
public:
    void add(Stop* stop)
    {
        const std::lock_guard lock(mutex_);
        all_.insert(stop);
    }
    void remove(Stop* stop)
    {
        const std::lock_guard lock(mutex_);
        all_.erase(all_.find(stop));
        ended_.notify_all();
    }
    /// Stops all and waits for them. Without the GIL.
    void end(std::chrono::seconds patience)
    {
        std::unique_lock lock(mutex_);
        for (auto* stop : all_) *stop = true;
        ended_.wait_for(lock, patience, [this] { return all_.empty(); });
    }

private:
    std::mutex mutex_;
    std::condition_variable ended_;
    std::multiset<Stop*> all_;
};

inline Runs runs;

}  // namespace quorate::bindings
