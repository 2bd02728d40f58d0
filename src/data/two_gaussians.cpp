// SPDX-License-Identifier: BSD-2-Clause
#include "data/two_gaussians.hpp"

#include <cmath>

#include "base/random.hpp"

namespace quorate {

DenseRows two_gaussians(std::uint64_t seed, std::int64_t p, std::int64_t first, std::int64_t count)
{
    const auto columns = static_cast<std::size_t>(p);
    std::vector<double> beta(columns);
    Stream signs(seed, Purpose::generated_data);
    for (auto& sign : beta) sign = signs() & 1 ? 1 : -1;

    const double mean = 1.5 / static_cast<double>(p),
                 deviation = 10 / std::sqrt(static_cast<double>(p));
    DenseRows rows;
    rows.values.resize(static_cast<std::size_t>(count) * columns);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto row = static_cast<std::uint64_t>(first + i) + 1;  // stream (0, 0) is beta's
        Stream stream(seed, Purpose::generated_data, static_cast<std::uint32_t>(row),
                      static_cast<std::uint32_t>(row >> 32));
        const double side = stream() & 1 ? mean : -mean;
        double* x = rows.values.data() + static_cast<std::size_t>(i) * columns;
        double score = 0;
        for (std::size_t j = 0; j < columns; ++j) {
            x[j] = side * beta[j] + deviation * stream.normal();
            score += x[j] * beta[j];
        }
        rows.label.push_back(stream.uniform() * (1 + std::exp(-score)) < 1 ? 1 : -1);
    }
    return rows;
}

}  // namespace quorate
