// SPDX-License-Identifier: BSD-2-Clause
#include "code/gradient_code.hpp"

namespace quorate {

double decode_error(const Encoding& encoding, const std::vector<Weight>& weights, double scale)
{
    std::vector<double> sum(static_cast<std::size_t>(encoding.partitions));
    for (const auto& weight : weights)
        for (const auto& [partition, value] :
             encoding.rows.at(static_cast<std::size_t>(weight.worker))
                 .at(static_cast<std::size_t>(weight.part)))
            sum[static_cast<std::size_t>(partition)] += weight.value * value;
    double error = 0;
    for (const double covered : sum) error += (scale * covered - 1) * (scale * covered - 1);
    return error;
}

}  // namespace quorate
