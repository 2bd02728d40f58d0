// SPDX-License-Identifier: BSD-2-Clause
// A scheme, driven by the engine, against workers that finish in any order, computing gradients of
// small quadratics: what schemes, engine and fleets promise each other, with each promise checked.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "scheme/scheme.hpp"

namespace quorate {

/// A run of a scheme by itself, for tests of schemes: needs no data and no model. Local.
class SchemeCheck {
public:
    using Vector = std::vector<double>;
    /// Chooses who finishes next. @param steps  done so far  @return -1: nobody before a timer
    using Choose = std::function<Worker(const std::vector<Worker>& busy, std::int64_t steps)>;

    /// @param scheme  must outlive this object
    /// @param seed    of the order in which workers finish, and of what happens to limited tasks
    SchemeCheck(Scheme& scheme, unsigned seed);

    // To be set before run().
    double step_size = 0;
    std::size_t width = 1;  // parameters of the model
    Vector first;           // model; empty: zeros
    std::function<Vector(int block, const Vector& w)> gradient = [](int, const Vector& w) {
        return Vector(w.size());
    };
    Choose choose;
    bool keeps_unsent = false;  // as EngineOptions
    double empty = 0.2;         // how often a limited task is out of time before it has anything

    // What it saw.
    std::vector<std::string> broken;  // promises, a line each; the run ends at the first
    std::vector<Step> steps;          // what the table held is among their terms
    std::vector<std::string> log;
    std::vector<std::vector<Version>> versions;  // of the items of each contribution used
    std::vector<Vector> estimates;               // of each step
    std::vector<std::vector<Version>>
        published_at;            // of each step: versions of the terms' newest points
    std::size_t most_alive = 0;  // contributions
    std::string undecodable;
    std::string no_memory;             // why workers cannot keep what contributions lack
    std::vector<Vector> models;        // the last ones
    std::map<Version, Vector> points;  // those that tasks have named

    /// Runs until so many steps are done, or a promise is broken, or the scheme gives up. Once.
    void run(std::int64_t rounds);

private:
    Scheme& scheme_;
    std::mt19937 random_;
};

}  // namespace quorate
