// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/optimizer.hpp"

#include <stdexcept>

namespace quorate {

void Optimizer::update_floats(std::span<const float>, double, std::span<float>)
{
    throw std::logic_error("this update rule is for doubles");
}

}  // namespace quorate
