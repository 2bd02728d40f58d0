// SPDX-License-Identifier: BSD-2-Clause
// Cross-validation over a grid of options. Each fold of each point of the grid is a trial, of each
// worker if each tunes on its own rows. A rank that is free takes the next trial.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <span>
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

/// The trials of a grid on the folds of a data set. With --workers each worker has rows and folds
/// of its own; stratified_folds() makes the folds of all by --seed. Trials are numbered worker by
/// worker, point by point, and fold by fold. Local.
class Trials {
public:
    /// Opens the data set, and makes the components of each point once, so that a wrong value is
    /// found before any work. Reads the labels.
    /// @param settings  must outlive this object
    /// @throws BadInput if the data set cannot be used, or a value of a point is wrong
    Trials(const Settings& settings, std::vector<Choice> points);

    /// The number of trials.
    std::int64_t count() const { return workers_ * std::ssize(points_) * folds_; }
    int folds() const { return folds_; }
    /// Those of all workers.
    int all_folds() const { return workers_ * folds_; }
    /// Those that each tune on their own rows; 1: all rows are tuned on together.
    int workers() const { return workers_; }
    const std::vector<Choice>& points() const { return points_; }
    /// Whether the models have such a metric: a regression has no accuracy, three classes no AUC.
    bool has(double Quality::*metric) const { return !std::isnan(metrics_.*metric); }
    /// The class with the fewest training rows. A class with fewer rows than all_folds() is
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
    /// Returns the model that a worker trains on all of its rows. O(rounds x entries of a batch).
    /// @param point  its options, by number
    /// @throws Failure  if a gradient is not finite  @throws as run()
    std::vector<double> model(int worker, std::int64_t point);
    /// Returns the quality of a model on the test rows, whose metrics are none without such rows.
    /// O(their entries).
    /// @param point  of the model, by number  @throws BadInput, Failure  as DataSet::read()
    Quality tested(std::span<const double> model, std::int64_t point) const;

private:
    struct Made;
    Made make(std::int64_t point) const;
    Quality metrics_of(const Loss& loss) const;
    const Shard& parts();
    std::vector<std::size_t> parts_of(std::int64_t worker) const;

    const Settings& settings_;
    std::vector<Choice> points_;
    DataSet data_;
    int workers_, folds_;
    Quality metrics_;
    std::vector<int> part_of_;              // of each training row; a worker has folds_ parts
    std::vector<std::int64_t> class_rows_;  // of each class; empty: labels are numbers
    std::optional<Shard> parts_;
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
