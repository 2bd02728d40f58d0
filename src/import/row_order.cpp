// SPDX-License-Identifier: BSD-2-Clause
#include "import/row_order.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "base/text.hpp"

namespace quorate {

namespace {

// Puts the training rows into a random order.
void shuffle(RowOrder& order, std::uint32_t seed)
{
    std::vector<std::int64_t> shuffled;
    for (const auto i : numpy_permutation(std::ssize(order.train), seed))
        shuffled.push_back(order.train[static_cast<std::size_t>(i)]);
    order.train = std::move(shuffled);
}

}  // namespace

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

bool sorted_by_label(std::span<const double> labels, bool classes)
{
    constexpr double few = 16;  // rows, which may be in order by chance
    const auto rows = static_cast<double>(labels.size());
    if (rows < few) return false;
    double ascents = 0, descents = 0;
    for (std::size_t i = 1; i < labels.size(); ++i) {
        ascents += labels[i - 1] < labels[i];
        descents += labels[i - 1] > labels[i];
    }
    if (!classes)
        return std::max(ascents, descents) >= few && std::min(ascents, descents) < rows / 50;
    std::map<double, double> count;
    for (const double label : labels) ++count[label];
    double alike = 0;  // the chance that two rows have the same label
    for (const auto& [label, of_it] : count) alike += (of_it / rows) * (of_it / rows);
    return count.size() > 1 && 1 + ascents + descents <= (1 + rows * (1 - alike)) / 4;
}

RowOrder row_order(const Settings& settings, const Labels& labels, std::int64_t train_rows)
{
    const double fraction = settings.real("test-fraction", 0, 0.99);
    const auto most = std::numeric_limits<std::uint32_t>::max();
    const auto seed = static_cast<std::uint32_t>(settings.integer("split-seed", 0, most));
    if (fraction > 0 && settings.on("test-input"))
        settings.refuse("test-fraction", " beside --test-input: give one of them");
    RowOrder order;
    const auto rows = std::ssize(labels.kept);
    if (fraction > 0) {
        std::tie(order.train, order.test) = split_rows(rows, fraction, seed);
    } else {
        for (std::int64_t i = 0; i < rows; ++i)
            (labels.kept[static_cast<std::size_t>(i)] < train_rows ? order.train : order.test)
                .push_back(i);
    }
    if (order.train.empty())
        settings.refuse("test-fraction", ", which leaves no training row: use less");
    const auto& word = settings.text("shuffle");
    if (word == "auto") {
        std::vector<double> theirs;
        for (const auto i : order.train)
            theirs.push_back(labels.value[static_cast<std::size_t>(i)]);
        // Rows to predict keep their order.
        order.mended = !settings.on("like") &&
                       sorted_by_label(theirs, labels.task != LearningTask::regression);
        if (order.mended) shuffle(order, 0);
    } else if (word != "no") {
        if (!to_integer(word)) settings.refuse("shuffle", ": give a seed, auto or no");
        shuffle(order, static_cast<std::uint32_t>(settings.integer("shuffle", 0, most)));
    }
    return order;
}

}  // namespace quorate
