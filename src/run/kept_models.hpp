// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "run/training.hpp"
#include "trace/iterates.hpp"
#include "trace/trace.hpp"

namespace quorate {

/// The points and models of a recorded run by their versions, as far as its trace keeps them and
/// its rule says where gradients are taken. Models of doubles only. Local.
class KeptModels {
public:
    /// What is known of an optimiser after the update that published a version.
    struct State {
        std::unique_ptr<Optimizer> rule;
        Optimizer::Told told;
        std::vector<double> point;  // before it is rounded to the wire; if it is told
    };

    /// @param path   of the trace
    /// @param begin  makes the optimisers as they are when the run begins
    KeptModels(const std::string& path, const trace::Trace& trace,
               std::function<Optimizers()> begin);

    /// Whether the point of a version is known; so is that of a negative one, which stands for
    /// none.
    bool has_point(Version version) const;
    /// Whether the model of a version is: that which its update made, or an initial one.
    bool has_model(Version version) const;
    /// Whether no point is known but the initial ones, however many models are kept.
    bool tells_nothing() const { return pair_ == Optimizer::Told::nothing; }
    /// The version that a round published. @param round  from 1
    Version of_round(std::int64_t round) const { return models_ - 1 + round; }
    /// The version of the same model before this one; -1: this is an initial one.
    Version before(Version version) const { return before_[static_cast<std::size_t>(version)]; }
    /// Reads the model of a version, which has_model(). O(parameters).
    std::vector<double> model(Version version) const;
    /// Returns what is known behind a version, which has_model(). O(parameters).
    State at(Version version) const;

private:
    std::int64_t round_of(Version version) const { return version - models_ + 1; }

    std::string path_;
    trace::Iterates iterates_;
    std::function<Optimizers()> begin_;
    std::size_t width_;
    Version models_;                  // how many are trained
    Optimizer::Told alone_, pair_;    // what a model tells, and two in a row
    std::vector<Version> before_;     // by version
    std::vector<std::size_t> model_;  // by version, the number of its model
    std::vector<long> updates_;       // by version, the updates of its model by then
};

}  // namespace quorate
