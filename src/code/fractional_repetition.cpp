// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"

#include <numeric>

namespace quorate {

RowRange partition(std::int64_t rows, int k, int j)
{
    const auto begin = rows * j / k;
    return {begin, rows * (j + 1) / k - begin};
}

std::vector<int> FractionalRepetition::partitions(int group) const
{
    std::vector<int> held(static_cast<std::size_t>(d_));
    std::iota(held.begin(), held.end(), group * d_);
    return held;
}

double FractionalRepetition::error(int heard, double a) const
{
    return d_ * (heard * (a - 1) * (a - 1) + (groups() - heard));
}

}  // namespace quorate
