// SPDX-License-Identifier: BSD-2-Clause
// From an encoding matrix to what workers store and compute.
#pragma once

#include "code/gradient_code.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

using Plans = std::vector<std::shared_ptr<const Plan>>;  // by worker

/// The partitions as blocks of rows, and for each worker those that its rows of B name.
Needs needs_of(const Encoding& encoding, std::int64_t rows);
/// Samples of a round of that encoding, counted once: what turns an exact estimate into a mean.
std::int64_t samples_of(const Encoding& encoding, const Problem& problem);

/// What each worker computes: its rows of B, a part each. Workers with equal rows share a plan, so
/// that they can share messages.
Plans plans_of(const Encoding& encoding);

/// Parts of each worker's task.
std::vector<int> parts_of(const Plans& plans);

/// One worker of each plan, then a second of each, and so on: where nobody straggles, the first to
/// be asked are then enough for an estimate.
std::vector<Worker> distinct_first(const Plans& plans, std::vector<Worker> workers);

/// What schemes without redundancy share: worker i holds partition i, and sums up its gradients.
struct OwnPartitions {
    explicit OwnPartitions(const Problem& problem);
    Needs needs;
    Plans plans;
    std::int64_t samples;  // of a round in which all take their share of the batch
};

}  // namespace quorate
