// SPDX-License-Identifier: BSD-2-Clause
// How much the rows of each block count in the estimates of a run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "scheme/scheme.hpp"

namespace quorate {

/// Whose rows an average estimate leaves out.
struct RowUse {
    double least = 1;   // mean weight of the row that counts least, over that of all rows
    double rarely = 0;  // share of the rows whose weight is below `rare`
    std::vector<Worker> holders = {};  // of such rows, ascending
    static constexpr double rare = 0.1;
};

/// Adds up with which weight the rows of each block count in the steps of a scheme. Local.
class RowWeights {
public:
    /// @param needs  of the scheme
    explicit RowWeights(Needs needs);

    /// Takes note of an event that the scheme gets, and of the actions that it answers with.
    /// O(items of what steps use).
    void heard(const Event& event, std::span<const Action> actions);

    /// Returns the mean weight of a row of each block over the steps, relative to that of all rows:
    /// 1 where estimates stand for all rows alike, 0 for rows that no step uses. Empty if that is
    /// not known: there was no step, or what workers send is not a sum of gradients of blocks.
    std::vector<double> relative() const;
    /// Returns what follows from it; nothing if that is not known.
    std::optional<RowUse> use() const;

private:
    struct Sum {
        std::vector<std::pair<int, double>> blocks =
            {};  // that are in it, and the weight of their rows there
        bool in_table = false;
        double weight = 0;  // in the table
        double before = 0;  // table_steps_ when it came there
    };
    Sum sum_of(const Contribution& contribution) const;
    void count(const Sum& sum, double weight);
    void leave_table(Sum& sum);
    void close(TaskId first, TaskId last);
    void heard(const Step& step);
    void heard(const Fill& fill);

    Needs needs_;
    std::vector<double> weights_;  // of a row of each block: sum over steps of weight / divisor
    std::map<TaskId, std::shared_ptr<const Plan>> plans_;
    std::map<ContributionId, Sum> sums_;
    std::map<TaskId, std::vector<ContributionId>> of_task_;
    std::map<int, std::vector<ContributionId>> table_;  // by slot
    double table_steps_ = 0;  // sum of 1 / divisor over the steps that used the table
    bool known_;
};

/// Returns a scheme that does what another one does, and tells these weights of it.
/// @param weights  must outlive the result
std::unique_ptr<Scheme> heard_by(RowWeights& weights, std::unique_ptr<Scheme> scheme);

}  // namespace quorate
