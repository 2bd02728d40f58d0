// SPDX-License-Identifier: BSD-2-Clause
// Predicts by simulations how long schemes take to a target.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/simulation.hpp"

namespace quorate {

/// A scheme with values for its options.
struct Candidate {
    std::string scheme;
    Choice options = {};
    bool paced = false;    // its updates are many and of old gradients (SchemeProperties::pace)
    int updates = 1;       // of it while each worker answers once
    std::string way = {};  // --aggregate, where it was chosen for this candidate

    /// Returns the candidate as words of a command: "frc --stragglers 1".
    std::string text() const { return scheme + words_of(options); }
};

/// Returns the candidates that all schemes name for so many workers (SchemeProperties::candidates).
/// @param timed  whether rows take time; without that, deadlines mean nothing
std::vector<Candidate> candidates(int workers, bool timed);

/// Returns a candidate that is paced, with how often it updates and the step that it is trained
/// with: that of the others, shortened like --step auto by what the age of its gradients lets be
/// stable. Its optimiser is the one that a run of it has without --optimizer, unless that is given.
/// Local.
/// @param shared  options of simulations that all candidates have: with data
/// @param more    factor of that step
/// @throws BadInput if the options do not fit this candidate
Candidate at_its_pace(Candidate candidate, const Settings& settings, const Options& shared,
                      double more);

/// What one simulation tells of a candidate.
struct TimeToTarget {
    double seconds;                  // to the target; infinite if it is not reached
    double round_seconds;            // of a round, mean over the rounds
    double rounds;                   // to the target; infinite if it is not reached
    std::optional<double> closed;    // seconds a round by a closed form, where there is one
    std::optional<RowUse> use = {};  // of rows, if it is known; only with the first seed
    bool exact =
        false;  // all estimates were those of all rows, or of the batch, at the newest point
    std::string way = {};  // in which contributions were added up, as --aggregate names it
};

/// What simulations tell of a candidate.
struct CandidateTimes {
    Candidate candidate;
    std::vector<double> seconds = {};   // to the target, by seed; infinite if it is not reached
    double round_seconds = 0;           // of a round, mean over rounds and seeds
    double rounds = 0;                  // to the target, mean over seeds; infinite if one misses it
    std::optional<double> closed = {};  // seconds a round by a closed form, where there is one
    std::optional<RowUse> use = {};     // of rows with the first seed, if it is known
    bool exact = true;                  // with all seeds, as in TimeToTarget
    std::string way = {};               // as in TimeToTarget

    /// Returns the mean of `seconds`; infinite if a seed does not reach the target.
    double mean() const;
};

/// Returns the means of at least one simulation of a candidate, by seed.
CandidateTimes candidate_times(const Candidate& candidate,
                               const std::vector<TimeToTarget>& simulations);

/// Simulates a candidate with one seed, on this thread. Any number of threads may call it at once.
/// Local.
///
/// With data, the target is a training loss, and the simulation ends where it is reached. Twice
/// --rounds rounds are run at most, so that a candidate that needs more rounds than another can
/// reach it too; of one whose updates are many, as many more.
///
/// Without data, the target is as much progress as --rounds exact rounds make. Weights a of n
/// partitions with |a - 1|^2 = e that add up to n make a relative error of h e / n^2 in the
/// gradient. Here h (--heterogeneity) is the variance of the partitions' gradients over the square
/// of their mean, and n is the number of workers. Such a round is worth 1 / (1 + h e / n^2) of an
/// exact one (gradient descent with multiplicative noise: Vaswani, Bach, Schmidt, AISTATS 2019).
/// Stale gradients cost as many rounds more as their mean staleness, once.
/// @param settings  of the command: rounds, seed, workers, heterogeneity, ...
/// @param shared    options of simulations that all candidates have
/// @param number    of the simulation, from 0: its seed is --seed + number
/// @param target    training loss; none without data
/// @param stop      set by another thread to end it early
/// @return nothing if it was stopped
/// @throws BadInput if the options do not fit this candidate, or if no round is done
/// @throws Failure if the simulation cannot go on
std::optional<TimeToTarget> time_to_target(const Candidate& candidate, const Settings& settings,
                                           const Options& shared, int number,
                                           std::optional<double> target,
                                           const std::atomic<bool>& stop);

/// The way of adding up contributions with which a candidate is fastest.
struct FastestWay {
    std::string way = {};  // as --aggregate names it; empty: not known
    int simulations = 0;   // that were made to find it
};

/// How many rounds of a way of adding up are simulated, before one is chosen.
inline constexpr std::int64_t rounds_of_ways = 20;

/// Simulates so many rounds of a candidate with each way of adding up contributions over --nodes
/// hosts that its run would not refuse, all with the first seed. Of their second half the way with
/// the least time to the progress of --rounds rounds is the fastest, as time_to_target() predicts
/// it without data; of those that are as fast to 1 %, it is the first of flat, node and shares.
/// Makes none if there is no choice. Local.
/// @param settings, shared, stop  as in time_to_target()
/// @throws BadInput if the options do not fit this candidate
FastestWay fastest_way(const Candidate& candidate, const Settings& settings, const Options& shared,
                       const std::atomic<bool>& stop);

/// Returns how many simulations this machine can make side by side: one for each core, but with
/// data no more than half of its memory is enough for; at least 1. Local.
/// @throws BadInput if the data set cannot be used, or an option of the model is wrong
int simulations_at_once(const Settings& settings);

/// Simulates --rounds rounds of a candidate with the first seed, and returns the training loss that
/// it reaches. Without data it simulates too, for the errors, and returns nothing. Local.
/// @param stop  set by another thread to end it early; what is returned is then worth nothing
/// @throws BadInput if an option is wrong, or --evaluate-every is 0  @throws Failure as simulate()
std::optional<double> final_loss(const Candidate& candidate, const Settings& settings,
                                 const Options& shared, const std::atomic<bool>& stop);

}  // namespace quorate
