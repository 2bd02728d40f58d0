// SPDX-License-Identifier: BSD-2-Clause
// Turns an encoding matrix into what workers store and compute.
#pragma once

#include <functional>

#include "code/gradient_code.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

using Plans = std::vector<std::shared_ptr<const Plan>>;  // by worker

/// Sizes of partitions, relative to each other. Empty: equal.
using Shares = std::vector<double>;

/// Returns what workers store: the partitions as blocks of rows, and for each worker those blocks
/// that its rows of B name.
/// @param rows    of the training split
/// @param shares  of the partitions
Needs needs_of(const Encoding& encoding, std::int64_t rows, const Shares& shares = {});

/// Returns what each worker computes: its rows of B, a part each. Workers with equal rows share a
/// plan, so that they can share messages.
Plans plans_of(const Encoding& encoding);

/// Returns changed copies of plans. Workers that share a plan share its copy.
Plans changed(const Plans& plans, const std::function<void(Plan&)>& change);

/// Returns copies of plans by which workers make steps of their own on the block of a plan's item.
Plans descending(const Plans& plans);

/// Sorts workers: first one worker of each plan, then a second one of each, and so on. Workers that
/// are asked first tend to answer first, and then the first answers suffice for an estimate.
std::vector<Worker> distinct_first(const Plans& plans, std::vector<Worker> workers);

/// What workers store and compute by an encoding.
struct Layout {
    Layout() = default;
    explicit Layout(const Encoding& encoding, const Problem& problem, const Shares& shares = {});
    /// A worker's task: its plan, at that point.
    Dispatch task(TaskId task, Worker worker, Version point, const TaskControl& control) const;

    Needs needs = {};
    Plans plans = {};
    /// Of a round in which all take their share of the batch, each counted once. An exact estimate
    /// divided by them is a mean.
    std::int64_t samples = 0;
};

/// That of schemes without redundancy: worker i holds partition i, and sends the sum of its
/// gradients.
struct OwnPartitions : Layout {
    explicit OwnPartitions(const Problem& problem);
};

}  // namespace quorate
