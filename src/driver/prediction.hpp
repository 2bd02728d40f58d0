// SPDX-License-Identifier: BSD-2-Clause
// How long schemes will take to a target, by simulating them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/simulation.hpp"

namespace quorate {

/// A scheme with values for its options.
struct Candidate {
    std::string scheme;
    Choice options;

    /// "frc --stragglers 1".
    std::string text() const;
};

/// What schemes say is worth a try with so many workers (SchemeProperties).
/// @param timed  whether rows take time, without which deadlines mean nothing
std::vector<Candidate> candidates(int workers, bool timed);

/// What simulations say of a candidate.
struct Prediction {
    Candidate candidate;
    std::vector<double> seconds;   // to the target, by seed; infinite if it is not reached
    double round_seconds = 0;      // mean
    double rounds = 0;             // to the target, mean
    std::optional<double> closed;  // seconds a round by a closed form, where there is one

    double mean() const;
};

/// Of their mean.
double standard_error(const std::vector<double>& values);

/// Simulates a candidate, once for each seed, on this thread.
/// Without data, the target is as much progress as `rounds` exact rounds make. Weights a of n partitions with
/// |a - 1|^2 = e that add up to n make a relative error of h e / n^2 in the gradient, where h is the
/// variance of the partitions' gradients over the square of their mean (`heterogeneity`), and such a
/// round is worth 1 / (1 + h e / n^2) of an exact one (gradient descent with multiplicative noise: Vaswani,
/// Bach, Schmidt, AISTATS 2019). Stale gradients cost their staleness once. With data the target is a training
/// loss, and twice as many rounds are run.
/// @param shared  options of simulations that all candidates have
/// @param target  loss; none without data
/// @return nothing if the scheme cannot be made with these settings
std::optional<Prediction> predict(const Candidate& candidate, const Settings& settings,
                                  const Options& shared, int seeds, std::optional<double> target);

/// How many simulations this machine can make side by side: one for each core, or what its memory is enough
/// for. @throws BadInput
int simulations_at_once(const Settings& settings);

/// The training loss that a candidate reaches with the first seed; none without data. @throws BadInput
std::optional<double> final_loss(const Candidate& candidate, const Settings& settings,
                                 const Options& shared);

}  // namespace quorate
