// SPDX-License-Identifier: BSD-2-Clause
#include "code/gradient_code.hpp"

namespace quorate {

double decode_error(const Encoding& encoding, const std::vector<Weight>& weights, double scale)
{
    std::vector<double> sum(encoding.partitions);
    for (const auto& weight : weights)
        for (const auto& [partition, value] : encoding.rows.at(weight.worker).at(weight.part))
            sum[partition] += weight.value * value;
    double error = 0;
    for (const double covered : sum) error += (scale * covered - 1) * (scale * covered - 1);
    return error;
}

}  // namespace quorate
