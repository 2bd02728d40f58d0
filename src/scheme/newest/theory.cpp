// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/newest/theory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quorate {

std::optional<int> Theory::tasks() const
{
    if (!noise || !target) return std::nullopt;
    return static_cast<int>(std::max(1.0, std::ceil(*noise / *target)));
}

std::optional<double> Theory::gradient_step(std::int64_t distance) const
{
    if (!lipschitz) return std::nullopt;
    const double l = *lipschitz;
    const double smooth = 1 / (2 * l * std::max(1.0, static_cast<double>(distance)));
    return noise && *noise > 0 ? std::min(smooth, *target / (4 * *noise * l)) : smooth;
}

std::string tree_note(const Theory& theory, const ComputationTree& tree)
{
    const auto distance = tree.distance();
    if (!distance || !theory.lipschitz) return "";
    const double mean_of = tree.local ? 1 : static_cast<double>(tree.gradients);
    return fmt::format(
        "a step of {:g} for trees of distance R = {}, {}min(1 / (2 L), 1 / (2 R L){})",
        mean_of * *theory.gradient_step(*distance), *distance,
        mean_of > 1 ? fmt::format("{:g} ", mean_of) : "",
        theory.noise ? ", EPS / (4 SIGMA2 L)" : "");
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

std::string tasks_note(const Theory& theory)
{
    const auto tasks = theory.tasks();
    return tasks ? fmt::format("{} tasks an update, max(1, SIGMA2 / EPS)", *tasks) : "";
}

int collect_by(const Theory& theory, const std::optional<int>& collect, int workers)
{
    return collect.value_or(theory.tasks().value_or((workers + 1) / 2));
}

}  // namespace quorate
