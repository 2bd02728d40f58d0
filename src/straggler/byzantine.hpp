// SPDX-License-Identifier: BSD-2-Clause
// Byzantine workers, injected: what they send instead of what they computed. Pure mathematics.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "base/settings.hpp"

namespace quorate {

/// Workers whose every contribution is corrupted. Local.
class ByzantineWorkers {
public:
    enum class Kind { random, sign_flip, nan };

    ByzantineWorkers() = default;
    ByzantineWorkers(Kind kind, std::set<int> workers, std::uint64_t seed)
        : kind_(kind), workers_(std::move(workers)), seed_(seed)
    {
    }

    bool contains(int worker) const { return workers_.contains(worker); }
    /// Replaces the payload of a Byzantine worker by normal numbers of the payload's size, by the payload with
    /// the other sign, or by NaN. Payloads of honest workers stay as they are.
    void corrupt(int worker, std::int64_t draw, int part, std::span<double> payload) const;

private:
    Kind kind_ = Kind::random;
    std::set<int> workers_;
    std::uint64_t seed_ = 0;
};

/// The option --byzantine KIND:WORKER,...
Option byzantine_option();
/// @throws BadInput
ByzantineWorkers byzantine_workers(const Settings& settings, std::uint64_t seed, int workers);

}  // namespace quorate
