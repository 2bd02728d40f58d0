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

std::vector<Option> theory_options()
{
    return {{"lipschitz", "L", "",
             "Lipschitz constant of the gradient; the program says which step the theory takes"},
            {"noise", "SIGMA2", "",
             "variance of the mean gradient of a task; schemes with --collect take SIGMA2 / EPS of "
             "them, unless it is given"},
            {"target-gradient", "EPS", "", "squared norm of the gradient at which --noise counts"}};
}

Theory theory(const Settings& settings)
{
    const auto positive = [&](const char* name) -> std::optional<double> {
        if (!settings.has(name) || !settings.on(name)) return std::nullopt;
        const auto value = settings.real(name, 0);
        if (value == 0) settings.refuse(name, ": use a number above 0");
        return value;
    };
    Theory theory{
        .lipschitz = positive("lipschitz"), .noise = {}, .target = positive("target-gradient")};
    if (settings.on("noise")) theory.noise = settings.real("noise", 0);
    if (theory.noise && !theory.target)
        settings.refuse("noise", ", but the theory needs --target-gradient too: give both");
    if (theory.target && !theory.noise)
        settings.refuse("target-gradient", ", but the theory needs --noise too: give both");
    if (theory.noise && *theory.noise / *theory.target > std::numeric_limits<int>::max())
        settings.refuse("target-gradient",
                        ", for which an update would take more tasks than there are numbers: use "
                        "a larger one");
    return theory;
}

int collect_by(const Theory& theory, const Settings& settings, int workers)
{
    const auto tasks = theory.tasks();
    return settings.on("collect") || !tasks ? any_collect(settings, workers) : *tasks;
}

}  // namespace quorate
