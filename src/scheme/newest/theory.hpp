// SPDX-License-Identifier: BSD-2-Clause
// What the theory of optimal time complexity says of batches and steps, for users who know the
// constants of their problem.
#pragma once

#include <optional>
#include <string>

#include "base/fields.hpp"
#include "scheme/tree.hpp"

namespace quorate {

/// The constants of a problem, as far as the user gives them.
struct Theory {
    std::optional<double> lipschitz;  // L: of the gradient of the objective
    std::optional<double> noise;      // sigma^2: variance of the mean gradient of a task
    std::optional<double> target;     // eps: of the squared norm of the gradient; with noise only

    /// S = max(1, ceil(sigma^2 / eps)): the gradients of a task that an update needs, by Tyurin and
    /// Richtarik (Rennala SGD, arXiv 2305.12387). Nothing without noise and target.
    std::optional<int> tasks() const;
    /// The largest step gamma of each gradient for which a tree of computations of distance R
    /// reaches the target: min(1 / (2 L), 1 / (2 R L), eps / (4 sigma^2 L)), the last one with
    /// noise only. Nothing without L. Source: Birch SGD, ICLR 2026, by a summary; docs/schemes.md
    /// has a proof.
    std::optional<double> gradient_step(std::int64_t distance) const;
};

/// Returns the constants that the user gives. @throws Refusal for numbers that are not above 0
///     (noise: below 0), and if only one of --noise and --target-gradient is given
Theory checked(const Theory& theory);

/// What the program says of that step: the step to give, which is gamma for local steps, and for
/// the mean of r gradients r gamma. Empty without L, and where R has no limit.
std::string tree_note(const Theory& theory, const ComputationTree& tree);

/// Returns the text as a note to the user, if there is any.
inline std::string as_note(const std::string& text)
{
    return text.empty() ? "" : "the theory: " + text;
}

/// The constants among the options of a scheme, checked. @throws Refusal as checked(), and for a
///     Lipschitz constant where local steps are not added up as they are
template <class T>
Theory theory_of(const T& given)
{
    if constexpr (requires { given.outer_step; })
        if (given.lipschitz && given.outer_step != 1)
            throw Refusal("lipschitz",
                          ", but a step follows from it only if local steps are added up as they "
                          "are: leave out --outer-step");
    return checked({given.lipschitz, given.noise, given.target_gradient});
}

/// What the program says of the tasks of an update that follow from noise and target; empty without
/// them.
std::string tasks_note(const Theory& theory);

/// Tasks of an update: --collect, or else what the theory says, or else half of the workers,
/// rounded up.
int collect_by(const Theory& theory, const std::optional<int>& collect, int workers);

}  // namespace quorate
