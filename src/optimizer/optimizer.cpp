// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/optimizer.hpp"

#include <stdexcept>

namespace quorate {

void Optimizer::move(std::span<const double>, std::span<double>)
{
    throw std::logic_error("this update rule makes its own steps only");
}

}  // namespace quorate
