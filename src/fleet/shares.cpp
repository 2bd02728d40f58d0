// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/shares.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quorate {

namespace {

// Returns for each block how many numbers hosts send of it and of all blocks before.
std::vector<std::int64_t> numbers_up_to(std::span<const Support* const> of_hosts,
                                        std::int64_t parameters)
{
    std::vector<std::int64_t> numbers(
        static_cast<std::size_t>((parameters + share_block - 1) / share_block));
    std::int64_t full = 0;
    for (const auto* support : of_hosts) {
        if (support->full()) ++full;
        for (const auto parameter : support->chosen())
            ++numbers[static_cast<std::size_t>(parameter / share_block)];
    }
    std::int64_t sum = 0, end = 0;
    for (auto& number : numbers) {
        const auto begin = std::exchange(end, std::min(end + share_block, parameters));
        number = sum += number + full * (end - begin);
    }
    return numbers;
}

}  // namespace

std::vector<std::int64_t> cut_shares(std::span<const Support* const> of_hosts,
                                     std::int64_t parameters, int shares)
{
    const auto up_to = numbers_up_to(of_hosts, parameters);
    const auto blocks = std::ssize(up_to);
    const auto count = std::min<std::int64_t>(shares, blocks);
    std::vector<std::int64_t> bounds = {0};
    std::int64_t cut = 0;  // in blocks
    for (std::int64_t share = 1; share < count; ++share) {
        const auto wanted = static_cast<double>(up_to.back()) * static_cast<double>(share) /
                            static_cast<double>(count);
        const auto distance = [&](std::int64_t at) {
            return std::abs(static_cast<double>(up_to[static_cast<std::size_t>(at - 1)]) - wanted);
        };
        const auto last = blocks - (count - share);  // leaves a block for each share to come
        ++cut;
        while (cut < last && distance(cut + 1) <= distance(cut)) ++cut;
        bounds.push_back(cut * share_block);
    }
    bounds.push_back(parameters);
    return bounds;
}

std::vector<std::int64_t> numbers_of_shares(const Support& support,
                                            std::span<const std::int64_t> bounds)
{
    const auto up_to = [&](std::int64_t bound) {
        const auto chosen = support.chosen();
        return support.full() ? bound : std::ranges::lower_bound(chosen, bound) - chosen.begin();
    };
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
        numbers.push_back(up_to(bounds[i + 1]) - up_to(bounds[i]));
    return numbers;
}

std::vector<int> told_by(int host, int hosts)
{
    std::vector<int> told;
    for (int next = 2 * host + 1; next <= 2 * host + 2 && next < hosts; ++next)
        told.push_back(next);
    return told;
}

}  // namespace quorate
