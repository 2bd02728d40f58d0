// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "base/text.hpp"

namespace quorate {

std::optional<double> to_bytes(std::string_view text, double unit)
{
    std::string word = trimmed(text);
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
    double factor = 1;
    if (to_real(word)) {
        factor = unit;
    } else {
        for (const std::string_view suffix : {"ib", "b"})
            if (word.ends_with(suffix)) {
                word.resize(word.size() - suffix.size());
                break;
            }
        const auto power = word.empty() ? std::string::npos : std::string("kmgt").find(word.back());
        if (power != std::string::npos) {
            factor = std::pow(1024.0, static_cast<double>(power + 1));
            word.pop_back();
        }
    }
    const auto amount = to_real(trimmed(word));
    if (!amount || *amount * factor <= 0) return std::nullopt;
    return *amount * factor;
}

std::optional<double> to_time(std::string_view text, double unit)
{
    const auto number = to_real(text);
    if (!number) return to_duration(text);
    if (unit <= 0 || *number < 0) return std::nullopt;
    return *number * unit;
}

std::string clock_time(double seconds)
{
    const auto minutes = static_cast<long>(std::ceil(seconds / 60));
    return fmt::format("{}:{:02}:00", minutes / 60, minutes % 60);
}

std::string spoken_time(double seconds)
{
    if (seconds >= 2 * 3600) return figures(seconds / 3600, 3) + " h";
    if (seconds >= 120) return fmt::format("{:.0f} min", seconds / 60);
    return seconds >= 10 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.2g} s", seconds);
}

}  // namespace quorate
