// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>

#include "code/gradient_code.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// Pipelined gradient coding by the published rule: nobody is interrupted. Each worker computes one
/// gradient for each round, at that round's point, and a late worker does the rounds that it owes
/// one after the other, so the gradients of an answer in time are 0 to d - 1 rounds old. A round
/// ends at the answer numbered `collect`, or a later one if the code cannot decode before.
///
/// The published queue of a late worker has no end. Here a worker that owes more rounds than `cap`
/// leaves out all but the last d, which suffice for an answer with the ages above.
/// Source: Su and Li, "Pipelined Gradient Coding", arXiv 2607.20739, and its code.
/// @param code     its decoder returns a decoding from the first answers that suffice on; each
///                 worker holds d partitions
/// @param collect  1..n
/// @param cap      none: 2 d; at least d - 1. Answers with older gradients, which a worker gives
///                 that has lost rounds, are not used
std::unique_ptr<Scheme> pipeline_queue(const Problem& problem, GradientCode code, int collect,
                                       const std::optional<std::int64_t>& cap);

}  // namespace quorate
