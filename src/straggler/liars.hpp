// SPDX-License-Identifier: BSD-2-Clause
// Byzantine workers, injected: what they send instead of what they computed. Pure mathematics.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "base/settings.hpp"

namespace quorate {

/// Workers that lie in every contribution they send. Local.
class Liars {
public:
    enum class Kind { random, sign_flip, nan };

    Liars() = default;
    Liars(Kind kind, std::set<int> workers, std::uint64_t seed)
        : kind_(kind), workers_(std::move(workers)), seed_(seed)
    {
    }

    bool lies(int worker) const { return workers_.contains(worker); }
    /// Falsifies the payload of a liar: normal numbers of the payload's size, the payload with the
    /// other sign, or NaN. Honest workers' payloads are left alone.
    void falsify(int worker, std::int64_t draw, int part, std::span<double> payload) const;

private:
    Kind kind_ = Kind::random;
    std::set<int> workers_;
    std::uint64_t seed_ = 0;
};

/// The option --liars KIND:WORKER,...
Option liars_option();
/// @throws BadInput
Liars liars(const Settings& settings, std::uint64_t seed, int workers);

}  // namespace quorate
