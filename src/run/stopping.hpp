// SPDX-License-Identifier: BSD-2-Clause
// When a run is done before its last round: --stop-at and --patience; when it has failed:
// --on-divergence.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/block_sums.hpp"
#include "base/settings.hpp"
#include "engine/engine.hpp"
#include "optimizer/regularizer.hpp"
#include "trace/rows.hpp"

namespace quorate {

/// The options --stop-at, --stop-for, --patience and --on-divergence.
std::vector<Option> stopping_options();

/// One condition of --stop-at: what is measured has come to a value.
struct StopRule {
    enum class Of { gap, gradient, loss, train_loss, test_loss, accuracy } of;
    double value;
    /// Whether models must be scored while the run goes on. The others are measured at every tenth
    /// round, or with a line search at every one, from what the coordinator has anyway; the loss at
    /// every one.
    bool scored() const
    {
        return of == Of::train_loss || of == Of::test_loss || of == Of::accuracy;
    }
};

/// What a run stops at.
struct StopRules {
    std::vector<StopRule> rules = {};  // of which one is enough
    std::int64_t in_a_row = 1;         // times that a rule is to hold
    std::int64_t patience = 0;  // scored models in a row with no lower test loss; 0: any number
    std::int64_t every = 10;    // rounds after which the gradient is looked at again
    bool sparse = false;        // models have exact zeros: the gradient is the least subgradient

    /// Whether models must be scored while the run goes on.
    bool scored() const;
    /// Whether the model of a round may be one to stop at, so that it is worth scoring at once. A
    /// training loss is scored only where its estimate is as low, or where every model counts.
    bool may_be_met(double loss_estimate) const;
};

/// Reads --stop-at, --stop-for and --patience.
/// @param regularizer  of the objective  @param exact  whether estimates are
/// @throws BadInput for an unknown word, or for a condition that cannot be measured
StopRules stop_rules(const Settings& settings, const Regularizer& regularizer, bool exact);

/// What models are scored with, while a run goes on.
struct Scores {
    std::int64_t models;  // how many are scored
    bool test_rows;       // whether there are any
    bool classes;         // whether the model calls rows by classes
};

/// @throws BadInput if there is a rule that no model could ever meet
void check_reachable(const Settings& settings, const StopRules& rules, const Scores& scores);

/// Decides when a run is done. Local; used on the coordinator.
class Stopping {
public:
    /// @param sums  adds up over all parameters, where points and estimates are shares of them
    Stopping(StopRules rules, const Regularizer& regularizer, SumBlocks sums = sum_blocks)
        : rules_(std::move(rules)), regularizer_(regularizer), sums_(std::move(sums)),
          held_(rules_.rules.size())
    {
    }

    /// Looks at an update. O(parameters) at every tenth (StopRules::every) if the objective's
    /// gradient is asked for.
    /// @return whether the run is done
    bool done(const Update& update);
    /// Looks at an update that a resumed run has made before.
    void repeat(const trace::Round& row);
    /// Looks at a scored model.
    void scored(const trace::Evaluation& row);
    /// Why the run is done, "gap 0.0098" or the like; empty: it is not.
    const std::string& why() const { return why_; }

private:
    void look_at_gradient(const Update& update);
    void look_at_loss(double loss);
    // Whether a rule holds, and what it has found; nothing: that was not measured.
    using Found = std::optional<std::pair<bool, std::string>>;
    void look(const std::function<Found(const StopRule&)>& found_of);

    StopRules rules_;
    Regularizer regularizer_;
    SumBlocks sums_;
    std::string why_;
    std::vector<std::int64_t> held_;  // of each rule: times in a row
    std::optional<double> best_;      // the lowest test loss so far
    std::int64_t worse_ = 0;          // scored models since then
};

/// Looks for a training loss that has been more than 1.5 times that of the first round for thirty
/// rounds, or is not finite. Local.
class Divergence {
public:
    /// Looks at the loss of the next round. @return whether the run diverges; true once only
    bool look(double loss);
    /// The loss of the first round.
    double first() const { return first_; }

private:
    double first_ = 0;
    int grown_ = 0;  // rounds in a row
    bool told_ = false;
};

}  // namespace quorate
