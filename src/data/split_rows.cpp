// SPDX-License-Identifier: BSD-2-Clause
#include "data/split_rows.hpp"

#include <bit>
#include <cmath>
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

}  // namespace quorate
