// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "scheme/batches.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// A scheme for a number of workers, with what follows from it: what workers store, and which
/// samples they take.
struct Coding {
    /// @param seed, batch  as for Batches
    Coding(std::unique_ptr<Scheme> made, std::uint64_t seed, std::int64_t batch)
        : scheme(std::move(made)), needs(scheme->needs()), batches(needs, seed, batch)
    {
    }
    int workers() const { return static_cast<int>(needs.shard.size()); }

    std::unique_ptr<Scheme> scheme;
    Needs needs;
    Batches batches;
    std::string changed = {};  // which options had to change for so few workers; empty: none
};

/// Makes the scheme of a run for another number of workers. All ranks make the same.
/// @throws BadInput if there is no scheme for that many
using MakeCoding = std::function<std::shared_ptr<Coding>(int workers)>;

/// Returns how many rows a worker stores.
std::int64_t rows_of(const Needs& needs, Worker worker);

}  // namespace quorate
