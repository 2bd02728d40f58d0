// SPDX-License-Identifier: BSD-2-Clause
// What the theory of optimal time complexity says of batches and steps, for users who know the
// constants of their problem.
#pragma once

#include <optional>

#include "base/settings.hpp"

namespace quorate {

/// The constants of a problem, as far as the user gives them.
struct Theory {
    std::optional<double> lipschitz;  // L: of the gradient of the objective
    std::optional<double> noise;      // sigma^2: variance of the mean gradient of a task
    std::optional<double> target;     // eps: of the squared norm of the gradient; with noise only

    /// S = max(1, ceil(sigma^2 / eps)): the gradients of a task that an update needs, by Tyurin and
    /// Richtarik (Rennala SGD, arXiv 2305.12387). Nothing without noise and target.
    std::optional<int> tasks() const;
};

/// Returns the constants that the user gives. @throws Refusal for numbers that are not above 0
///     (noise: below 0), and if only one of --noise and --target-gradient is given
Theory checked(const Theory& theory);

/// Tasks of an update: --collect, or else what the theory says, or else half of the workers,
/// rounded up.
int collect_by(const Theory& theory, const std::optional<int>& collect, int workers);

}  // namespace quorate
