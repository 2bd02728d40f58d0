// SPDX-License-Identifier: BSD-2-Clause
// A scheme against workers that finish in any order, computing gradients of small quadratics: what
// schemes, engine and fleets promise each other, in a few lines, with each promise checked.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compute/cached_gradients.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// A run of a scheme by itself, for tests of schemes: needs no fleet, no data and no model. Local.
class SchemeCheck {
public:
    using Vector = std::vector<double>;
    /// Chooses who finishes next. @param steps  done so far  @return -1: nobody before a timer
    using Choose = std::function<Worker(const std::vector<Worker>& busy, std::int64_t steps)>;

    /// @param seed  of the order in which workers finish, and of what happens to limited tasks
    SchemeCheck(Scheme& scheme, int workers, unsigned seed);

    /// Another first model than zero.
    void start_at(const Vector& w);

    // To be set before run().
    double step_size = 0;
    std::size_t width = 1;
    std::function<Vector(int block, const Vector& w)> gradient = [](int, const Vector& w) {
        return Vector(w.size());
    };
    Choose choose;
    double empty = 0.2;  // how often a limited task is out of time before it has anything

    // What it saw.
    std::vector<std::string> broken;  // promises, a line each; the run ends at the first
    std::vector<Step> steps;          // what the table held is among their terms
    std::vector<std::string> log;
    std::vector<std::vector<Version>> versions;  // of the items of each contribution used
    std::vector<std::vector<double>> estimates;  // of each step
    std::vector<std::vector<Version>>
        published_at;  // of each step: versions of the terms' newest points
    std::size_t most_alive = 0;
    std::string undecodable;

    /// Runs until so many steps are done, or a promise is broken, or the scheme gives up.
    void run(std::int64_t rounds);

    const Vector& model(int number = 0) const { return models_[static_cast<std::size_t>(number)]; }
    Vector& model(int number = 0) { return models_[static_cast<std::size_t>(number)]; }
    const Vector& point(Version version) const { return points_.at(version).w; }

private:
    struct Point {
        Vector w;
        int holders = 0;
    };
    struct Cached {
        Version version;
        Vector gradient;
    };
    struct Machine {
        std::vector<Dispatch> tasks;  // the running one first
        std::size_t part = 0;
        std::int64_t count = 0;
        std::map<int, Cached> cached;
        std::optional<std::pair<int, Version>> begun;
    };
    struct Value {
        TaskId task;
        Vector sum;
        std::vector<Version> versions;
        bool kept = false;  // it has outlived a step, or is to
        int slot = -1;      // of the table, which holds it
        double weight = 0;  // of the slot
        bool held = false;  // its values stay with the worker
    };

    // Notes a promise that is broken. @return whether it holds
    bool expect(bool holds, const std::string& what);
    void publish(int model);
    bool is_alive(Version version) const;
    void give(const Event& event);
    std::optional<Event> carry_out(const Action& action);
    void check(const Dispatch& task);
    void close(TaskId task);
    void fill(const Fill& fill);
    Step spelled_out(Step step) const;
    std::optional<Event> carry_out_step(const Step& made);
    void answer(Worker worker);
    std::int64_t samples(const Dispatch& task, const Part& part);
    std::vector<Item> first_items(const Part& part);
    std::int64_t rows_of(const Part& part) const;
    const Vector& at(Version version);
    static std::vector<CacheUpdate> updates_of(const Machine& machine, const Dispatch& task,
                                               const Part& part);
    Value compute(Machine& machine, const Dispatch& task, const Part& part);

    Scheme& scheme_;
    Needs needs_;
    std::mt19937 random_;
    std::vector<Machine> machines_;
    std::vector<Vector> models_;
    std::map<Version, Point> points_;
    std::map<int, Version> newest_;
    std::map<TaskId, Dispatch> open_;
    std::map<ContributionId, Value> alive_;
    std::map<int, Seconds> timers_;
    Seconds now_ = 0;
    Version next_version_ = 0;
    TaskId last_task_ = -1;
    ContributionId next_contribution_ = 0;
};

}  // namespace quorate
