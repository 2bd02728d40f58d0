// SPDX-License-Identifier: BSD-2-Clause
#include "compute/loss_derivatives.hpp"

#include <algorithm>

namespace quorate {

std::function<double(std::span<double> scores)> loss_derivatives(const DataSet& data,
                                                                 const Loss& loss)
{
    auto labels = data.read(Split::train, 0, data.rows(Split::train)).label;
    return [labels = std::move(labels), &loss](std::span<double> scores) {
        constexpr std::int64_t tile = 4096;
        const auto outputs = loss.outputs();
        const auto rows = std::ssize(labels);
        std::vector<double> derivatives(static_cast<std::size_t>(tile * outputs));
        double sum = 0;
        for (std::int64_t first = 0; first < rows; first += tile) {
            const auto count = std::min(tile, rows - first);
            auto* z = scores.data() + first * outputs;
            sum += loss.evaluate(z, labels.data() + first, count, derivatives.data());
            std::copy_n(derivatives.begin(), count * outputs, z);
        }
        return sum;
    };
}

}  // namespace quorate
