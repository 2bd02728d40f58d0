// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <span>

#include "cli/training.hpp"

namespace quorate {

/// What the coordinator does with the scores of all training rows: it holds their labels, turns scores
/// into the derivatives of the losses by them, and says the sum of the losses. Reads the labels.
std::function<double(std::span<double> scores)> residual_of(const Training& training);

}  // namespace quorate
