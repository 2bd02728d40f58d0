// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/round_end.hpp"

#include <algorithm>

#include "code/fractional_repetition.hpp"

namespace quorate {

Blocked until_answers(int n, int r)
{
    Blocked blocked(static_cast<std::size_t>(n) + 1, 1.0);
    std::fill_n(blocked.begin(), n - r + 1, 0.0);
    return blocked;
}

Blocked until_groups(int n, int d)
{
    if (d == 1) return until_answers(n, n);
    if (n > 1000) return {};  // numbers of sets of workers are too large then
    // The sets of m workers that hold no group whole, and all sets of m workers: coefficients of
    // the products of (1 + x)^size - x^size, and of (1 + x)^size.
    std::vector<double> harmless = {1}, all = {1};
    for (const int size : repetition_groups(n, d).size) {
        std::vector<double> binomial = {1};
        for (int m = 1; m <= size; ++m) binomial.push_back(binomial.back() * (size - m + 1) / m);
        const auto times = [&](const std::vector<double>& sets, std::size_t most) {
            std::vector<double> product(sets.size() + static_cast<std::size_t>(size));
            for (std::size_t i = 0; i < sets.size(); ++i)
                for (std::size_t m = 0; m <= most; ++m) product[i + m] += sets[i] * binomial[m];
            return product;
        };
        harmless = times(harmless, binomial.size() - 2);
        all = times(all, binomial.size() - 1);
    }
    Blocked blocked;
    for (std::size_t m = 0; m < all.size(); ++m) blocked.push_back(1 - harmless[m] / all[m]);
    return blocked;
}

Blocked until_groups_or_answers(int n, int d, int r)
{
    auto blocked = until_groups(n, d);
    if (!blocked.empty()) std::fill_n(blocked.begin(), n - r + 1, 0.0);
    return blocked;
}

}  // namespace quorate
