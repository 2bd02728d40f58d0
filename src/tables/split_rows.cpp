// SPDX-License-Identifier: BSD-2-Clause
#include "tables/split_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace quorate {

std::vector<std::int64_t> numpy_permutation(std::int64_t count, std::uint32_t seed)
{
    std::mt19937 generator(seed);
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    for (std::size_t i = order.size(); i-- > 1;) {
        const auto mask = std::bit_ceil(i + 1) - 1;
        std::size_t j = generator() & mask;
        while (j > i) j = generator() & mask;
        std::swap(order[i], order[j]);
    }
    return order;
}

std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> split_rows(std::int64_t count,
                                                                           double fraction,
                                                                           std::uint32_t seed)
{
    const auto order = numpy_permutation(count, seed);
    const auto test = static_cast<std::ptrdiff_t>(std::ceil(fraction * static_cast<double>(count)));
    return {{order.begin() + test, order.end()}, {order.begin(), order.begin() + test}};
}

bool sorted_by_label(std::span<const double> labels, bool classes)
{
    constexpr double few = 16;  // rows, which may be in order by chance
    const auto rows = static_cast<double>(labels.size());
    if (rows < few) return false;
    double ascents = 0, descents = 0;
    for (std::size_t i = 1; i < labels.size(); ++i) {
        ascents += labels[i - 1] < labels[i];
        descents += labels[i - 1] > labels[i];
    }
    if (!classes)
        return std::max(ascents, descents) >= few && std::min(ascents, descents) < rows / 50;
    std::map<double, double> count;
    for (const double label : labels) ++count[label];
    double alike = 0;  // the chance that two rows have the same label
    for (const auto& [label, of_it] : count) alike += (of_it / rows) * (of_it / rows);
    return count.size() > 1 && 1 + ascents + descents <= (1 + rows * (1 - alike)) / 4;
}

}  // namespace quorate
