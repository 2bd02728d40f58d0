// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compute/held_gradients.hpp"
#include "compute/task_states.hpp"
#include "compute/work.hpp"

namespace quorate {

/// What a worker keeps from task to task, as far as a part may need it.
struct Kept {
    HeldGradients* gradients = nullptr;  // null: it holds none
    StatePlaces states = {};
};

/// Begins to compute a part. Computes nothing yet, but sets `sum` to zero.
/// @param stored, part  must outlive the result, except for `stored` itself, which is copied
/// @param at          for each input of the task, and behind them its operands
/// @param sum         receives the contribution: length_of() elements; must outlive the result
/// @param kept        what the worker keeps from task to task, which must outlive the result
std::unique_ptr<Work> begin_work(const Computing& computing, const StoredRows& stored,
                                 const Part& part, std::vector<At> at, const Extent& extent,
                                 Numbers sum, const Kept& kept = {});

}  // namespace quorate
