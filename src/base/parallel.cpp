// SPDX-License-Identifier: BSD-2-Clause
#include "base/parallel.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <memory>
#include <mutex>

namespace quorate {

namespace {

thread_local bool inside = false;  // of a loop that is shared out

// Returns the threads of this process, which sleep until it ends. A forked process has none of its
// parent's, and makes its own. Never freed, because the end would wait for threads that are not
// there.
boost::asio::thread_pool& threads_of_process(int threads)
{
    static std::mutex mutex;
    static pid_t owner = 0;
    static boost::asio::thread_pool* pool = nullptr;
    const std::lock_guard lock(mutex);
    if (owner != getpid()) {
        pool = new boost::asio::thread_pool(
            static_cast<std::size_t>(std::max(threads, usable_cores())) - 1);
        owner = getpid();
    }
    return *pool;
}

// A loop that is shared out. Helpers that come late, because the cores are busy, find it closed,
// and nobody waits for them: only for those that have begun.
struct Loop {
    Loop(std::size_t calls, const std::function<void(std::size_t)>& call) : count(calls), f(call) {}

    void work()
    {
        inside = true;
        try {
            for (auto i = next++; i < count; i = next++) f(i);
        } catch (...) {
            const std::lock_guard lock(mutex);
            error = std::current_exception();
            next = count;
        }
        inside = false;
    }
    void help()
    {
        ++helping;
        // Whoever closes the loop looks at `helping` after that, so one of both sees the other.
        if (!closed) work();
        if (--helping == 0) helping.notify_one();
    }
    void close()
    {
        closed = true;
        for (auto some = helping.load(); some != 0; some = helping.load()) helping.wait(some);
    }

    const std::size_t count;
    const std::function<void(std::size_t)>& f;  // gone when the loop is closed
    std::atomic<std::size_t> next = 0;
    std::atomic<int> helping = 0;
    std::atomic<bool> closed = false;
    std::mutex mutex;
    std::exception_ptr error;
};

}  // namespace

int usable_cores() { return omp_get_max_threads(); }

int processors_of_host() { return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& f)
{
    if (count < 2 || threads < 2 || inside) {
        for (std::size_t i = 0; i < count; ++i) f(i);
        return;
    }
    auto& pool = threads_of_process(threads);
    const auto helpers = std::min(count, static_cast<std::size_t>(threads)) - 1;
    const auto loop = std::make_shared<Loop>(count, f);
    for (std::size_t i = 0; i < helpers; ++i) boost::asio::post(pool, [loop] { loop->help(); });
    loop->work();
    loop->close();
    if (loop->error) std::rethrow_exception(loop->error);
}

}  // namespace quorate
