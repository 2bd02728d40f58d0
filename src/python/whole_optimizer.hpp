// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <span>

#include "optimizer/optimizer.hpp"

namespace quorate::bindings {

/// Makes an update rule of a Python object that has the model and all else that the rule remembers.
/// With the GIL.
/// @param optimizer  an instance of quorate._samples.WholeOptimizer
/// @param initial    its model
/// @throws BadInput if there is a regulariser, which is the rule's own affair
std::unique_ptr<Optimizer> make_whole_optimizer(pybind11::object optimizer,
                                                std::span<const double> initial,
                                                const Regularizer& regularizer);

}  // namespace quorate::bindings
