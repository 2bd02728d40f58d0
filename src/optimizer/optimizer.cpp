// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/optimizer.hpp"

#include <stdexcept>

namespace quorate {

void Optimizer::update_floats(std::span<const float>, double, std::span<float>)
{
    throw std::logic_error("this update rule is for doubles");
}

void update(Optimizer& optimizer, ConstNumbers estimate, double step, Numbers next)
{
    if (estimate.precision() == Precision::binary64)
        optimizer.update(estimate.of<double>(), step, next);
    else
        optimizer.update_floats(estimate.of<float>(), step, next.of<float>());
}

}  // namespace quorate
