// SPDX-License-Identifier: BSD-2-Clause
#include "engine/failures.hpp"

#include <algorithm>

namespace quorate {

Failures::Failures(Seconds between, Seconds repair, int size, int workers, std::uint64_t seed)
    : between_(between), repair_(repair), size_(size), workers_(workers)
{
    constexpr std::uint32_t of_failures = 1;  // those of rounds have 0
    for (int first = 0; first < workers; first += size) {
        const auto unit = units_.size();
        units_.push_back(
            {Stream(seed, Purpose::membership, static_cast<std::uint32_t>(unit), of_failures)});
        next_.emplace(units_.back().stream.exponential(between_), unit);
    }
}

std::vector<Change> Failures::pass()
{
    const auto [at, number] = next_.top();
    next_.pop();
    auto& unit = units_[number];
    unit.away = !unit.away;
    away_ += unit.away ? 1 : -1;
    next_.emplace(at + unit.stream.exponential(unit.away ? repair_ : between_), number);
    std::vector<Change> all;
    const auto first = static_cast<int>(number) * size_;
    for (int worker = first; worker < std::min(first + size_, workers_); ++worker)
        all.push_back({unit.away ? Change::Kind::left : Change::Kind::joined, worker});
    return all;
}

}  // namespace quorate
