// SPDX-License-Identifier: BSD-2-Clause
// How elastic machines share out the rows of their coded blocks.
#pragma once

#include <optional>

#include "code/allocation.hpp"
#include "code/storage_code.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

enum class Strategy { cyclic, shifted_cyclic, flow, speeds };

struct ElasticWays {
    int needed;      // L: machines whose answers suffice; each stores 1 / L of the data
    int slack;       // e: stragglers that the first stage does without, with two codes both
    bool two_codes;  // X' is coded as well as X
    Generator generator;
    Strategy strategy;
};

std::vector<Option> elastic_options();
/// @throws BadInput
ElasticWays elastic_ways(const Settings& settings, const Problem& problem);

/// Who computes which rows, from one change of membership to the next.
class Division {
public:
    /// @param rows  of a coded block  @param most  machines there can be
    Division(const ElasticWays& ways, std::int64_t rows, int most);

    /// Shares the rows out among these machines, if that needs to change.
    /// @return rows that changed hands without need
    std::int64_t share_out(const std::vector<int>& machines);
    const Allocation& shares() const { return shares_; }
    /// A machine took so long for so many rows: its speed is estimated.
    void measure(int machine, std::int64_t rows, Seconds compute);

private:
    Allocation divide(const std::vector<int>& machines);
    /// Machines that compute each row; fewer than asked for if there are no more.
    int copies(std::size_t machines) const;
    bool unbalanced() const;
    std::vector<double> speeds(const std::vector<int>& machines) const;

    ElasticWays ways_;
    std::int64_t rows_;
    int most_;
    std::vector<int> machines_;
    Allocation shares_;
    double offset_ = 0;  // of shifted-cyclic
    std::optional<FlowAllocation> flow_;
    std::vector<double> row_seconds_;  // of each machine, smoothed; 0: not known
};

}  // namespace quorate
