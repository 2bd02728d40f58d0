// SPDX-License-Identifier: BSD-2-Clause
// Cross-validation over a grid of options. Each fold of each point of the grid is a trial. A rank
// that is free takes the next trial.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "compute/trial.hpp"
#include "data/data_set.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// An option of the grid, and the values of it that are tried.
struct GridOption {
    std::string name;
    std::vector<std::string> values = {};
};
/// Returns the options in --grid, whose values are lists V:V:... with ranges (base/values.hpp).
/// @throws BadInput if --grid is missing, cannot be read, or names an option that no trial has
std::vector<GridOption> grid_options(const Settings& settings);
/// Returns the points of the grid, which are all combinations of the values. The last option
/// changes fastest.
/// @throws BadInput if they are more than a million
std::vector<Choice> points_of(const std::vector<GridOption>& grid);

/// The trials of a grid on the folds of a data set, which stratified_folds() makes by --seed. Trial
/// t takes point t / folds() and leaves out fold t % folds(). Local.
class Trials {
public:
    /// Opens the data set, and makes the components of each point once, so that a wrong value is
    /// found before any work. Reads the labels.
    /// @param settings  must outlive this object
    /// @throws BadInput if the data set cannot be used, or a value of a point is wrong
    Trials(const Settings& settings, std::vector<Choice> points);

    /// The number of trials.
    std::int64_t count() const { return std::ssize(points_) * folds_; }
    int folds() const { return folds_; }
    const std::vector<Choice>& points() const { return points_; }
    /// Whether the models have such a metric: a regression has no accuracy, three classes no AUC.
    bool has(double Quality::*metric) const { return !std::isnan(metrics_.*metric); }
    /// The class with the fewest training rows. A class with fewer rows than there are folds is
    /// missing in some of them.
    struct Scarce {
        std::string name;
        std::int64_t rows;
    };
    /// Returns it; of a regression, no name and all rows.
    Scarce scarcest() const;
    /// Trains on all folds but one, and scores the model on that fold. The first call reads all
    /// training rows, which stay in memory. O(rounds x entries of a batch).
    /// @param trial  its number, 0 to count() - 1
    /// @throws BadInput, Failure  as DataSet::read()
    Quality run(std::int64_t trial);

private:
    struct Made;
    Made make(std::int64_t point) const;
    Quality metrics_of(const Loss& loss) const;

    const Settings& settings_;
    std::vector<Choice> points_;
    DataSet data_;
    int folds_;
    Quality metrics_;
    std::vector<int> fold_of_;              // of each training row
    std::vector<std::int64_t> class_rows_;  // of each class; empty: labels are numbers
    std::optional<Shard> shard_;
};

/// Does all trials. Rank 0 hands them out and the other ranks do them; a rank that is alone does
/// all itself. Collective on `comm`.
/// @param trials  the same on all ranks
/// @param done    called on rank 0 after each trial, with the number of trials done so far
/// @return on rank 0 the results by trial; nothing on the others
/// @throws transport::Unreachable if a rank has ended
/// @throws BadInput, Failure  as Trials::run(), on the rank that fails
std::vector<Quality> cross_validate(transport::Endpoint& endpoint, Trials& trials,
                                    const std::function<void(std::int64_t)>& done);

}  // namespace quorate
