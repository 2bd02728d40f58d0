// SPDX-License-Identifier: BSD-2-Clause
// The rows that models are scored on, and which of them a scorer scores.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "data/shard.hpp"
#include "model/loss.hpp"

namespace quorate {

/// Returns the tiles of so many rows that are scored, by which losses are added up. O(1).
inline std::int64_t tiles_of(std::int64_t rows) { return (rows + score_tile - 1) / score_tile; }

/// What one scorer scores: a range of the training rows that are scored, and one of the test rows.
struct EvaluationRows {
    std::int64_t train_first, train_count, test_first, test_count;
};

/// The rows of a data set that the models of a run are scored on: all, or some that a key draws.
/// Ranks that draw with the same key have the same rows. Local.
class ScoredRows {
public:
    /// All rows. O(1).
    explicit ScoredRows(const DataSet& data);
    /// Draws rows without replacement, any as likely. O(rows drawn).
    /// @param train, test  how many; all of a split that has no more, or if there is no number
    ScoredRows(const DataSet& data, std::optional<std::int64_t> train,
               std::optional<std::int64_t> test, std::uint64_t seed);

    /// How many of a split.
    std::int64_t count(Split split) const { return of(split).count; }
    /// Whether these are all rows.
    bool all() const { return !of(Split::train).drawn && !of(Split::test).drawn; }

    /// Returns how many of so many ranks have training rows to score: each has at least one tile.
    int useful_scorers(int ranks) const;
    /// Returns the share of one scorer: whole tiles, as many as others have, to within one. O(1).
    EvaluationRows share(int scorers, int scorer) const;
    /// Reads a scorer's share of the data set, and no other rows. Block 0 holds the training rows,
    /// block 1 the test rows, if there are any.
    /// @throws BadInput, Failure  as DataSet::read()
    Shard read(const DataSet& data, const EvaluationRows& share) const;
    /// Reads the labels of all test rows that are scored. @throws BadInput  as DataSet::read()
    std::vector<double> test_labels(const DataSet& data) const;

private:
    struct Rows {
        std::int64_t count;
        std::optional<std::vector<std::int64_t>> drawn = {};  // ascending; none: all
    };
    const Rows& of(Split split) const { return rows_[split == Split::train ? 0 : 1]; }
    RawRows read(const DataSet& data, Split split, std::int64_t first, std::int64_t count) const;

    std::array<Rows, 2> rows_;
};

}  // namespace quorate
