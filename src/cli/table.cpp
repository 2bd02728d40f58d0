// SPDX-License-Identifier: BSD-2-Clause
#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace quorate {

std::string table(const std::vector<Cells>& lines, std::string_view flush, std::size_t cut,
                  std::size_t width)
{
    constexpr std::size_t least = 8;
    std::vector<std::size_t> widths(lines.at(0).size());
    for (const auto& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], line[i].size());
    const auto others =
        std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1)) - widths[cut];
    widths[cut] = std::min(widths[cut], std::max(least, width - std::min(width, others)));
    std::string text;
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            const bool fits = line[i].size() <= widths[i];
            text += fmt::format(fmt::runtime(flush[i] == 'l' ? "{:<{}}  " : "{:>{}}  "),
                                fits ? line[i] : line[i].substr(0, widths[i] - 1) + "~", widths[i]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        text += "\n";
    }
    return text;
}

}  // namespace quorate
