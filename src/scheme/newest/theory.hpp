// SPDX-License-Identifier: BSD-2-Clause
// What the theory of optimal time complexity says of batches and steps, for users who know the
// constants of their problem.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// The constants of a problem, as far as the user gives them.
struct Theory {
    std::optional<double> lipschitz;  // L: of the gradient of the objective
    std::optional<double> noise;      // sigma^2: variance of the mean gradient of a task
    std::optional<double> target;     // eps: of the squared norm of the gradient; with noise only

    /// S = max(1, ceil(sigma^2 / eps)): the gradients of a task that an update needs, by Tyurin and Richtarik
    /// (Rennala SGD, arXiv 2305.12387). Nothing without noise and target.
    std::optional<int> tasks() const;
};

/// The options --lipschitz, --noise and --target-gradient.
std::vector<Option> theory_options();
/// Reads those of them that a scheme declares. @throws BadInput for numbers that are not above 0 (noise: below 0), and if only one of --noise and
///     --target-gradient is given
Theory theory(const Settings& settings);

/// Tasks of an update: --collect, or else what the theory says, or else half of the workers, rounded up.
/// @throws BadInput  if --collect is below 1
int collect_by(const Theory& theory, const Settings& settings, int workers);

}  // namespace quorate
