// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "scheme/batches.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// A scheme for so many workers, with what follows from it: what they store, which samples they take.
struct Coding {
    Coding(std::unique_ptr<Scheme> made, std::uint64_t seed, std::int64_t batch)
        : scheme(std::move(made)), needs(scheme->needs()), batches(needs, seed, batch)
    {
    }
    int workers() const { return static_cast<int>(needs.shard.size()); }

    std::unique_ptr<Scheme> scheme;
    Needs needs;
    Batches batches;
    std::string changed = {};  // options that so few workers do not allow any more
};

/// Makes the scheme of a run for another number of workers, all ranks alike.
/// @throws BadInput if there is none for that many
using MakeCoding = std::function<std::shared_ptr<Coding>(int workers)>;

/// How many rows a worker stores.
std::int64_t rows_of(const Needs& needs, Worker worker);

}  // namespace quorate
