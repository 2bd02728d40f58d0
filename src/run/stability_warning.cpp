// SPDX-License-Identifier: BSD-2-Clause
#include "run/stability_warning.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "run/defaults.hpp"

namespace quorate {

std::string stability_warning(const Settings& settings, const Training& training)
{
    const auto& needs = training.coding->needs;
    if (needs.staleness == 0 || !training.model || settings.text("optimizer") != "gd") return "";
    const auto curvature = curvature_of(*training.data, *training.model, training.regularizer);
    if (std::isnan(curvature)) return "";
    const auto most = needs.stable_step / curvature;
    const auto largest = largest_step(training.engine.schedule, training.engine.rounds);
    if (largest <= most) return "";
    const bool first = largest == settings.real("step", 0);
    return fmt::format(
        "--step {}{} may be too large: gradients that are {:.3g} updates old on average allow "
        "about {:.2g} on these data, whose curvature is up to {:.3g}: use less, or less stale "
        "gradients",
        brief_number(settings.text("step")),
        first ? "" : fmt::format(", with its schedule up to {:.3g},", largest), needs.staleness,
        most, curvature);
}

}  // namespace quorate
