// SPDX-License-Identifier: BSD-2-Clause
#include "base/parallel.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <latch>
#include <mutex>

namespace quorate {

namespace {

thread_local bool inside = false;  // of a loop that is shared out

// One loop. Helpers that come late find nothing left to do.
class Loop {
public:
    Loop(std::size_t count, const std::function<void(std::size_t)>& f) : count_(count), f_(f) {}

    void work()
    {
        inside = true;
        try {
            for (auto i = next_++; i < count_; i = next_++) f_(i);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            error_ = std::current_exception();
            next_ = count_;
        }
        inside = false;
    }
    void rethrow() const
    {
        if (error_) std::rethrow_exception(error_);
    }

private:
    std::size_t count_;
    const std::function<void(std::size_t)>& f_;
    std::atomic<std::size_t> next_ = 0;
    std::mutex mutex_;
    std::exception_ptr error_;
};

}  // namespace

int usable_cores() { return omp_get_max_threads(); }

void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& f)
{
    if (count < 2 || threads < 2 || inside) {
        for (std::size_t i = 0; i < count; ++i) f(i);
        return;
    }
    static boost::asio::thread_pool pool(
        static_cast<std::size_t>(std::max(threads, usable_cores())) - 1);
    const auto helpers = std::min(count, static_cast<std::size_t>(threads)) - 1;
    Loop loop(count, f);
    std::latch ended(static_cast<std::ptrdiff_t>(helpers));
    for (std::size_t i = 0; i < helpers; ++i)
        boost::asio::post(pool, [&] {
            loop.work();
            ended.count_down();
        });
    loop.work();
    ended.wait();
    loop.rethrow();
}

}  // namespace quorate
