// SPDX-License-Identifier: BSD-2-Clause
#include "run/divergence.hpp"

#include <cmath>
#include <utility>

namespace quorate {

Option divergence_option()
{
    return {
        "on-divergence", "stop|warn|ignore", "stop",
        "when the training loss has been 1.5 times the first one for thirty rounds: end the run, "
        "which has failed; or say so and go on; or just go on"};
}

bool Divergence::look(double loss)
{
    constexpr int patience = 30;
    constexpr double factor = 1.5;
    if (first_ == 0) first_ = loss;  // rounds without any answer have no loss
    const bool finite = std::isfinite(loss);
    grown_ = finite && loss <= factor * first_ ? 0 : grown_ + 1;
    return (!finite || grown_ >= patience) && !std::exchange(told_, true);
}

}  // namespace quorate
