// SPDX-License-Identifier: BSD-2-Clause
#include "model/metrics.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <vector>

namespace quorate {

namespace {

struct Scored {
    double score;
    bool positive;
};

std::vector<Scored> ascending(std::span<const double> scores, std::span<const double> labels)
{
    std::vector<Scored> order(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) order[i] = {scores[i], labels[i] > 0};
    std::ranges::sort(order, {}, &Scored::score);
    return order;
}

// Calls group(first, last, positives) for each run of rows with the same score.
template <class Rows, class Group>
void for_ties(const Rows& order, Group group)
{
    for (std::size_t first = 0; first < order.size();) {
        double positives = order[first].positive;
        auto last = first + 1;
        for (; last < order.size() && order[last].score == order[first].score; ++last)
            positives += order[last].positive;
        group(first, last, positives);
        first = last;
    }
}

double auc_of(const std::vector<Scored>& ascending)
{
    double positives = 0, rank_sum = 0;
    for_ties(ascending, [&](std::size_t first, std::size_t last, double tied) {
        rank_sum += tied * (static_cast<double>(first + last) + 1) / 2;  // their average rank
        positives += tied;
    });
    const double negatives = static_cast<double>(ascending.size()) - positives;
    if (positives == 0 || negatives == 0) return Quality::none;
    // AUC = (R+ - n+ (n+ + 1) / 2) / (n+ n-)
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

double average_precision_of(const std::vector<Scored>& ascending)
{
    double found = 0, sum = 0;
    for_ties(std::views::reverse(ascending), [&](std::size_t, std::size_t last, double tied) {
        found += tied;
        sum += tied * found / static_cast<double>(last);
    });
    return found > 0 ? sum / found : Quality::none;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

double auc(std::span<const double> scores, std::span<const double> labels)
{
    return auc_of(ascending(scores, labels));
}

double average_precision(std::span<const double> scores, std::span<const double> labels)
{
    return average_precision_of(ascending(scores, labels));
}

Quality classification(std::span<const double> scores, std::span<const double> labels,
                       double threshold)
{
    double count[2][2] = {{0, 0}, {0, 0}};  // [called positive][is positive]
    for (std::size_t i = 0; i < scores.size(); ++i) ++count[scores[i] > threshold][labels[i] > 0];
    const double right = count[1][1] + count[0][0];
    const double all = static_cast<double>(scores.size());
    return {.accuracy = all > 0 ? right / all : Quality::none,
            .precision = ratio(count[1][1], count[1][1] + count[1][0]),
            .recall = ratio(count[1][1], count[1][1] + count[0][1]),
            .f1 = ratio(2 * count[1][1], 2 * count[1][1] + count[1][0] + count[0][1])};
}

std::vector<std::int64_t> two_classes(std::span<const double> scores, double threshold)
{
    std::vector<std::int64_t> classes;
    for (const double score : scores) classes.push_back(score > threshold);
    return classes;
}

Quality two_class_quality(std::span<const double> scores, std::span<const double> labels,
                          double threshold)
{
    auto quality = classification(scores, labels, threshold);
    const auto order = ascending(scores, labels);
    quality.auc = auc_of(order);
    quality.average_precision = average_precision_of(order);
    return quality;
}

double top_hits(std::span<const double> scores, std::span<const double> labels,
                std::int64_t classes, std::int64_t k)
{
    const auto width = static_cast<std::size_t>(classes);
    double hits = 0;
    for (std::size_t row = 0; row < labels.size(); ++row) {
        const auto z = scores.subspan(row * width, width);
        const auto label = static_cast<std::size_t>(labels[row]);
        std::int64_t before = 0;
        for (std::size_t c = 0; c < width; ++c)
            before += z[c] > z[label] || (c < label && z[c] == z[label]);
        hits += before < k;
    }
    return hits;
}

Quality class_means(std::span<const double> scores, std::span<const double> labels,
                    std::int64_t classes)
{
    const auto width = static_cast<std::size_t>(classes);
    std::vector<double> called(width), is(width), right(width);
    double all_right = 0;
    for (std::size_t row = 0; row < labels.size(); ++row) {
        const auto z = scores.subspan(row * width, width);
        const auto best = static_cast<std::size_t>(std::ranges::max_element(z) - z.begin());
        const auto label = static_cast<std::size_t>(labels[row]);
        ++called[best];
        ++is[label];
        if (best == label) ++right[label], ++all_right;
    }
    const auto rows = static_cast<double>(labels.size());
    Quality mean{.accuracy = rows > 0 ? all_right / rows : Quality::none,
                 .precision = 0,
                 .recall = 0,
                 .f1 = 0};
    for (std::size_t c = 0; c < width; ++c) {
        mean.precision += ratio(right[c], called[c]) / static_cast<double>(classes);
        mean.recall += ratio(right[c], is[c]) / static_cast<double>(classes);
        mean.f1 += ratio(2 * right[c], called[c] + is[c]) / static_cast<double>(classes);
    }
    return mean;
}

}  // namespace quorate
