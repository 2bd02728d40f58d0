// SPDX-License-Identifier: BSD-2-Clause
// Cross-validation over a grid of options. Each fold of each point is a trial, and whichever rank is
// free takes the next one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "compute/trial.hpp"
#include "data/data_set.hpp"
#include "mpi/mpi.hpp"

namespace quorate {

/// Values of options that are tried together.
struct GridPoint {
    std::vector<std::pair<std::string, std::string>> values;
    /// " --l2 0.1 --step 1".
    std::string text() const;
};

/// Returns all combinations of the values in --grid.
/// @throws BadInput if it cannot be read or names an option that trials do not have
std::vector<GridPoint> grid_of(const Settings& settings);

/// The trials of a grid on the folds of a data set, which are read once.
class Trials {
public:
    /// @param settings  must outlive this object
    /// @throws BadInput if a value of a point is wrong: before any work
    Trials(const Settings& settings, std::vector<GridPoint> points);

    std::int64_t count() const { return std::ssize(points_) * folds_; }
    int folds() const { return folds_; }
    const std::vector<GridPoint>& points() const { return points_; }
    /// Trains on all folds but one, and scores on that. Local.
    /// @param trial  number of the point times the number of folds, plus the fold
    Quality run(std::int64_t trial);

private:
    struct Made;
    Made make(std::int64_t point) const;

    const Settings& settings_;
    std::vector<GridPoint> points_;
    DataSet data_;
    int folds_;
    std::optional<Shard> shard_;
};

/// Does all trials, shared out among the ranks. Collective.
/// @param done  called on rank 0 with the number of trials done
/// @return on rank 0 the results by trial; else nothing
std::vector<Quality> cross_validate(const mpi::Comm& comm, Trials& trials,
                                    const std::function<void(std::int64_t)>& done);

}  // namespace quorate
