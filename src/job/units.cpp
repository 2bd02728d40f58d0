// SPDX-License-Identifier: BSD-2-Clause
#include "job/units.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"

namespace quorate {

std::optional<double> to_bytes(std::string_view text)
{
    for (const std::string_view unit : {"iB", "B"})
        if (text.ends_with(unit)) {
            text.remove_suffix(unit.size());
            break;
        }
    double factor = 1;
    if (!text.empty()) {
        const auto power = std::string_view("KMGT").find(text.back());
        if (power != std::string_view::npos) {
            factor = std::pow(1024.0, static_cast<double>(power + 1));
            text.remove_suffix(1);
        }
    }
    const auto amount = to_real(trimmed(text));
    if (!amount || *amount <= 0) return std::nullopt;
    return *amount * factor;
}

std::string clock_time(double seconds)
{
    const auto minutes = static_cast<long>(std::ceil(seconds / 60));
    return fmt::format("{}:{:02}:00", minutes / 60, minutes % 60);
}

std::string spoken_time(double seconds)
{
    if (seconds >= 2 * 3600) return fmt::format("{:.3g} h", seconds / 3600);
    if (seconds >= 120) return fmt::format("{:.0f} min", seconds / 60);
    return fmt::format("{:.2g} s", seconds);
}

}  // namespace quorate
