// SPDX-License-Identifier: BSD-2-Clause
#include "compute/scored_rows.hpp"

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "code/partition.hpp"

namespace quorate {

namespace {

// Draws `count` of the numbers below `all`, ascending (Floyd's algorithm).
std::vector<std::int64_t> draw(std::int64_t count, std::int64_t all, Stream stream)
{
    std::set<std::int64_t> drawn;
    for (auto last = all - count; last < all; ++last) {
        const auto one =
            static_cast<std::int64_t>(stream.below(static_cast<std::size_t>(last) + 1));
        if (!drawn.insert(one).second) drawn.insert(last);
    }
    return {drawn.begin(), drawn.end()};
}

void append(RawRows& to, const RawRows& rows)
{
    for (std::size_t i = 1; i < rows.start.size(); ++i)
        to.start.push_back(to.start.back() + rows.start[i] - rows.start[i - 1]);
    to.column.insert(to.column.end(), rows.column.begin(), rows.column.end());
    to.value.insert(to.value.end(), rows.value.begin(), rows.value.end());
    to.dense.insert(to.dense.end(), rows.dense.begin(), rows.dense.end());
    to.label.insert(to.label.end(), rows.label.begin(), rows.label.end());
}

}  // namespace

ScoredRows::ScoredRows(const DataSet& data)
    : rows_{Rows{data.rows(Split::train)}, Rows{data.rows(Split::test)}}
{
}

ScoredRows::ScoredRows(const DataSet& data, std::optional<std::int64_t> train,
                       std::optional<std::int64_t> test, std::uint64_t seed)
    : ScoredRows(data)
{
    const std::array wanted = {train, test};
    for (std::uint32_t i = 0; i < rows_.size(); ++i)
        if (auto& [count, drawn] = rows_[i]; wanted[i] && *wanted[i] < count) {
            drawn = draw(*wanted[i], count, Stream(seed, Purpose::scored_rows, i));
            count = *wanted[i];
        }
}

int ScoredRows::useful_scorers(int ranks) const
{
    const auto tiles = std::max(std::int64_t{1}, tiles_of(count(Split::train)));
    return static_cast<int>(std::min(std::int64_t{ranks}, tiles));
}

EvaluationRows ScoredRows::share(int scorers, int scorer) const
{
    const auto part = [&](std::int64_t rows) {
        const auto [first, tiles] = partition(tiles_of(rows), scorers, scorer);
        const auto begin = std::min(first * score_tile, rows);
        return std::pair(begin, std::min((first + tiles) * score_tile, rows) - begin);
    };
    const auto [train, train_count] = part(count(Split::train));
    const auto [test, test_count] = part(count(Split::test));
    return {train, train_count, test, test_count};
}

RawRows ScoredRows::read(const DataSet& data, Split split, std::int64_t first,
                         std::int64_t count) const
{
    const auto& drawn = of(split).drawn;
    if (!drawn) return data.read(split, first, count);
    RawRows all;
    if (!data.dense()) all.start = {0};
    for (auto at = first; at < first + count;) {
        // Rows that follow one another are read at once.
        const auto row = (*drawn)[static_cast<std::size_t>(at)];
        std::int64_t length = 1;
        while (at + length < first + count &&
               (*drawn)[static_cast<std::size_t>(at + length)] == row + length)
            ++length;
        append(all, data.read(split, row, length));
        at += length;
    }
    return all;
}

Shard ScoredRows::read(const DataSet& data, const EvaluationRows& share) const
{
    const auto [train, train_count, test, test_count] = share;
    if (all()) {
        const RowSet sets[] = {{Split::train, train, train_count}, {Split::test, test, test_count}};
        return {data, std::span(sets).first(test_count > 0 ? 2 : 1)};
    }
    std::vector<RawRows> blocks;
    blocks.push_back(read(data, Split::train, train, train_count));
    if (test_count > 0) blocks.push_back(read(data, Split::test, test, test_count));
    return {std::move(blocks), data.columns()};
}

std::vector<double> ScoredRows::test_labels(const DataSet& data) const
{
    auto labels = data.labels(Split::test);
    const auto& drawn = of(Split::test).drawn;
    if (!drawn) return labels;
    std::vector<double> some;
    for (const auto row : *drawn) some.push_back(labels[static_cast<std::size_t>(row)]);
    return some;
}

}  // namespace quorate
