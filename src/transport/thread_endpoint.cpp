// SPDX-License-Identifier: BSD-2-Clause
#include "transport/thread_endpoint.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

#include "transport/clock.hpp"

namespace quorate::transport {

namespace {

constexpr Seconds longest = 0.1;  // sleep, so that the flag of a signal is seen in time

}  // namespace

// What a rank is sent.
struct Threads::Place {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Message> messages;          // under the mutex
    bool interrupted = false;              // as well
    std::atomic<std::size_t> waiting = 0;  // messages.size(), to be looked at without it
    std::atomic<bool> ended = false;
};

struct Threads::Errors {
    std::mutex mutex;
    std::exception_ptr first;  // under the mutex
    std::atomic<bool> there = false;
};

Threads::Threads(int size)
    : size_(size), places_(std::make_unique<Place[]>(static_cast<std::size_t>(size))),
      errors_(std::make_unique<Errors>())
{
}

Threads::~Threads() = default;

void Threads::fail(std::exception_ptr error)
{
    const std::lock_guard lock(errors_->mutex);
    if (!errors_->first) errors_->first = std::move(error);
    errors_->there = true;
}

ThreadEndpoint::ThreadEndpoint(Threads& threads, int rank, std::string host)
    : Endpoint(rank, threads.size(), std::move(host)), threads_(threads)
{
}

ThreadEndpoint::~ThreadEndpoint() { end(); }

void ThreadEndpoint::end()
{
    threads_.places_[static_cast<std::size_t>(rank())].ended = true;
    for (int other = 0; other < size(); ++other)
        threads_.places_[static_cast<std::size_t>(other)].changed.notify_one();
}

Ticket ThreadEndpoint::send(int to, Tag tag, std::shared_ptr<Bytes> bytes)
{
    // A copy, because buffers belong to the thread of their pool.
    auto copy = std::make_shared<Bytes>(bytes->size());
    if (bytes->size() > 0) std::memcpy(copy->data(), bytes->data(), bytes->size());
    auto& place = threads_.places_[static_cast<std::size_t>(to)];
    {
        const std::lock_guard lock(place.mutex);
        place.messages.push_back({std::move(copy), rank(), tag, clock_seconds()});
        place.waiting = place.messages.size();
    }
    to_ring_.push_back(to);
    return Ticket();
}

void ThreadEndpoint::ring()
{
    for (const int to : to_ring_)
        threads_.places_[static_cast<std::size_t>(to)].changed.notify_one();
    to_ring_.clear();
}

void ThreadEndpoint::advance()
{
    if (auto& errors = *threads_.errors_; rank() == 0 && errors.there.exchange(false)) {
        const std::lock_guard lock(errors.mutex);
        std::rethrow_exception(errors.first);
    }
    auto& place = threads_.places_[static_cast<std::size_t>(rank())];
    if (place.waiting == 0) return;
    const std::lock_guard lock(place.mutex);
    std::ranges::move(place.messages, std::back_inserter(ready_));
    place.messages.clear();
    place.waiting = 0;
}

void ThreadEndpoint::wait(Seconds at_most)
{
    ring();
    auto& place = threads_.places_[static_cast<std::size_t>(rank())];
    std::unique_lock lock(place.mutex);
    if (!place.messages.empty() || std::exchange(place.interrupted, false)) return;
    place.changed.wait_for(lock, std::chrono::duration<Seconds>(std::min(at_most, longest)));
}

void ThreadEndpoint::interrupt()
{
    auto& place = threads_.places_[static_cast<std::size_t>(rank())];
    {
        const std::lock_guard lock(place.mutex);
        place.interrupted = true;
    }
    place.changed.notify_one();
}

void ThreadEndpoint::die()
{
    end();
    auto& place = threads_.places_[static_cast<std::size_t>(rank())];
    std::unique_lock lock(place.mutex);
    while (!has_ended(0)) place.changed.wait_for(lock, std::chrono::duration<Seconds>(longest));
    throw Died();
}

bool ThreadEndpoint::has_ended(int rank) const
{
    // A rank that has failed ends then. Rank 0 is to learn the reason first.
    const bool ended = threads_.places_[static_cast<std::size_t>(rank)].ended;
    return ended && (this->rank() != 0 || !threads_.errors_->there);
}

}  // namespace quorate::transport
