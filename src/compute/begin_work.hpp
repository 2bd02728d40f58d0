// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compute/held_gradients.hpp"
#include "compute/work.hpp"

namespace quorate {

/// Begins to compute a part. Computes nothing yet, but sets `sum` to zero.
/// @param stored, part  must outlive the result, except for `stored` itself, which is copied
/// @param at          for each input of the task, and behind them its operands
/// @param sum         receives the contribution: length_of() elements; must outlive the result
/// @param held_gradients  of the worker, which must outlive the result; null: it holds none
std::unique_ptr<Work> begin_work(const Computing& computing, const StoredRows& stored,
                                 const Part& part, std::vector<At> at, const Extent& extent,
                                 Numbers sum, HeldGradients* held_gradients = nullptr);

}  // namespace quorate
