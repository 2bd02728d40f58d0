// SPDX-License-Identifier: BSD-2-Clause
#include "model/metrics.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace quorate {

double auc(std::span<const double> scores, std::span<const double> labels)
{
    std::vector<std::pair<double, bool>> order(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) order[i] = {scores[i], labels[i] > 0};
    std::sort(order.begin(), order.end());
    double positives = 0, rank_sum = 0;
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;  // [first, last) have the same score and share their average rank
        double tied_positives = 0;
        for (; last < order.size() && order[last].first == order[first].first; ++last)
            tied_positives += order[last].second;
        rank_sum += tied_positives * (static_cast<double>(first + last) + 1) / 2;
        positives += tied_positives;
        first = last;
    }
    const double negatives = static_cast<double>(scores.size()) - positives;
    if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
    // AUC = (R+ - n+ (n+ + 1) / 2) / (n+ n-)
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

Classification classification(std::span<const double> scores, std::span<const double> labels,
                              double threshold)
{
    double count[2][2] = {{0, 0}, {0, 0}};  // [called positive][is positive]
    for (std::size_t i = 0; i < scores.size(); ++i) ++count[scores[i] > threshold][labels[i] > 0];
    const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
    const double right = count[1][1] + count[0][0];
    const double all = static_cast<double>(scores.size());
    return {.accuracy = all > 0 ? right / all : std::numeric_limits<double>::quiet_NaN(),
            .precision = ratio(count[1][1], count[1][1] + count[1][0]),
            .recall = ratio(count[1][1], count[1][1] + count[0][1]),
            .f1 = ratio(2 * count[1][1], 2 * count[1][1] + count[1][0] + count[0][1])};
}

}  // namespace quorate
