// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/newest/theory.hpp"

#include <cmath>
#include <limits>

#include "scheme/options.hpp"

namespace quorate {

std::optional<int> Theory::tasks() const
{
    if (!noise || !target) return std::nullopt;
    return static_cast<int>(std::max(1.0, std::ceil(*noise / *target)));
}

Theory checked(const Theory& theory)
{
    const auto& [lipschitz, noise, target] = theory;
    if (lipschitz && *lipschitz == 0) throw Refusal("lipschitz", ": use a number above 0");
    if (target && *target == 0) throw Refusal("target-gradient", ": use a number above 0");
    if (noise && !target)
        throw Refusal("noise", ", but the theory needs --target-gradient too: give both");
    if (target && !noise)
        throw Refusal("target-gradient", ", but the theory needs --noise too: give both");
    if (noise && *noise / *target > std::numeric_limits<int>::max())
        throw Refusal("target-gradient",
                      ", for which an update would take more tasks than there are numbers: use "
                      "a larger one");
    return theory;
}

int collect_by(const Theory& theory, const std::optional<int>& collect, int workers)
{
    return collect.value_or(theory.tasks().value_or((workers + 1) / 2));
}

}  // namespace quorate
