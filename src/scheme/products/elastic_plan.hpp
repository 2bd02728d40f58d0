// SPDX-License-Identifier: BSD-2-Clause
// Coded elastic computing: how machines share out the rows of their coded blocks.
#pragma once

#include <optional>

#include "code/allocation.hpp"
#include "code/storage_code.hpp"
#include "scheme/products/schemes.hpp"

namespace quorate {

/// L, the machines whose answers suffice. @throws Refusal if the options do not fit the workers and
/// rows
int needed_machines(const ElasticOptions& given, const Problem& problem);

/// Decides which machine computes which rows, from one change of membership to the next.
class Division {
public:
    /// @param needed  L                   @param copies  of each row, or all machines if fewer
    /// @param rows    of a coded block    @param most    how many machines there can be
    Division(Strategy strategy, int needed, int copies, std::int64_t rows, int most);

    /// Shares the rows out among these machines, if they are others than before, or by speeds if
    /// that saves more than 5 % of the time. Does nothing if they are fewer than L.
    /// @param machines  that are there, ascending
    /// @return rows that changed hands without need (transition_waste)
    std::int64_t share_out(const std::vector<int>& machines);
    const Allocation& shares() const { return shares_; }
    /// Updates the estimate of a machine's speed. @param compute  seconds that it took for these
    /// rows
    void measure(int machine, std::int64_t rows, Seconds compute);

private:
    Allocation divide(const std::vector<int>& machines);
    int copies(std::size_t machines) const;
    bool unbalanced() const;
    std::vector<double> speeds(const std::vector<int>& machines) const;

    Strategy strategy_;
    int needed_, copies_;
    std::int64_t rows_;
    int most_;
    std::vector<int> machines_;
    Allocation shares_;
    double offset_ = 0;  // of shifted-cyclic
    std::optional<FlowAllocation> flow_;
    std::vector<double> row_seconds_;  // seconds a row of each machine, smoothed; 0: not known
};

}  // namespace quorate
