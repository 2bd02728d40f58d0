// SPDX-License-Identifier: BSD-2-Clause
// Injected Byzantine workers, for tests: they send something else than what they computed. Pure
// mathematics: no MPI, no clock, no files.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "base/numbers.hpp"
#include "base/settings.hpp"

namespace quorate {

/// The workers of which every contribution is corrupted. Local.
class ByzantineWorkers {
public:
    enum class Kind { random, sign_flip, nan };

    /// No worker is Byzantine.
    ByzantineWorkers() = default;
    /// @param seed  of the random payloads
    ByzantineWorkers(Kind kind, std::set<int> workers, std::uint64_t seed)
        : kind_(kind), workers_(std::move(workers)), seed_(seed)
    {
    }

    bool contains(int worker) const { return workers_.contains(worker); }
    /// Replaces the payload of a Byzantine worker, as its kind says: by normal numbers whose
    /// standard deviation is the payload's root mean square + 1, by the payload with the other
    /// sign, or by NaN. The payloads of honest workers stay as they are. O(payload).
    /// @param draw, part  key the random numbers
    void corrupt(int worker, std::int64_t draw, int part, Numbers payload) const;

private:
    Kind kind_ = Kind::random;
    std::set<int> workers_;
    std::uint64_t seed_ = 0;
};

/// The option --byzantine KIND:WORKER,...
Option byzantine_option();
/// Reads --byzantine; without the option no worker is Byzantine.
/// @param workers  how many there are
/// @throws BadInput if the value has another form, or names a worker twice or one that is not there
ByzantineWorkers byzantine_workers(const Settings& settings, std::uint64_t seed, int workers);

}  // namespace quorate
