// SPDX-License-Identifier: BSD-2-Clause
// How far apart base and gradient point of a run's updates were, in its tree of computations.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/trace.hpp"

namespace quorate {

/// The distance R of scheme/tree.hpp.
struct Distance {
    std::int64_t largest;  // of the run
    /// What the scheme promises; nothing if it has no limit, or the run went on with other workers.
    std::optional<std::int64_t> bound;
};

/// Reads it from a trace: versions say how old gradients are, and which round used them how many
/// lie between. Gradients of one update are ordered as is best, the oldest first. Nothing before
/// the first round, if the trace lists no contributions, and for schemes that have no such tree.
/// O(a log a) for a contributions. Local.
std::optional<Distance> distance_of(const trace::Trace& trace);

}  // namespace quorate
