// SPDX-License-Identifier: BSD-2-Clause
#include "faulty_endpoint.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "base/drop_if.hpp"
#include "transport/clock.hpp"

namespace quorate::test {

FaultyEndpoint::FaultyEndpoint(transport::Endpoint& behind, const Faults& faults)
    : Endpoint(behind.rank(), behind.size(), behind.host()), behind_(behind), faults_(faults),
      random_(faults.seed * 1009 + static_cast<std::uint64_t>(behind.rank())),
      due_(static_cast<std::size_t>(behind.size())),
      forsaken_(static_cast<std::size_t>(behind.size()))
{
}

transport::Ticket FaultyEndpoint::send(int to, transport::Tag tag,
                                       std::shared_ptr<transport::Bytes> bytes)
{
    if (cut_) return transport::Ticket();
    return behind_.send(to, tag, std::move(bytes));
}

void FaultyEndpoint::advance()
{
    if (faults_.stall > 0 && draw() < faults_.stall)
        std::this_thread::sleep_for(std::chrono::duration<Seconds>(faults_.stalled));
    const auto now = clock_seconds();
    while (auto message = behind_.receive()) {
        cut_ |= rank() == faults_.cut_rank && received_++ >= faults_.cut_after;
        if (cut_) continue;
        auto& due = due_[static_cast<std::size_t>(message->from)];
        const bool late = faults_.late > 0 && draw() < faults_.late;
        due = std::max(due, late ? now + draw() * faults_.longest : now);
        late_.push_back({due, std::move(*message)});
    }
    std::ranges::stable_sort(late_, {}, &Late::due);
    drop_if(late_, [&](Late& one) {
        if (one.due > now) return false;
        ready_.push_back(std::move(one.message));
        return true;
    });
}

void FaultyEndpoint::wait(Seconds at_most)
{
    if (!late_.empty())
        at_most = std::min(at_most, std::max(late_.front().due - clock_seconds(), 1e-5));
    behind_.wait(at_most);
}

bool FaultyEndpoint::is_receiving() const
{
    return behind_.is_receiving() || std::ranges::any_of(late_, [this](const Late& one) {
               return !forsaken_[static_cast<std::size_t>(one.message.from)];
           });
}

void FaultyEndpoint::forsake(int rank)
{
    forsaken_[static_cast<std::size_t>(rank)] = true;
    behind_.forsake(rank);
}

void FaultyEndpoint::expect(int rank)
{
    forsaken_[static_cast<std::size_t>(rank)] = false;
    behind_.expect(rank);
}

void FaultyEndpoint::die()
{
    behind_.die();
    std::abort();  // never comes here; for the compiler
}

}  // namespace quorate::test
