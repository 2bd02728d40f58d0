// SPDX-License-Identifier: BSD-2-Clause
// Decides which machine computes which of the coded rows: each row on `copies` machines, and as
// many rows on each machine as its speed allows. Rows are counted from 0 in every machine's coded
// block. Everything is local and pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quorate {

/// Neighbouring rows that the same machines compute.
struct Share {
    std::int64_t first, count;
    std::vector<int> machines;  // ascending
    bool operator==(const Share&) const = default;
};

/// Who computes all rows: shares in ascending order, without gaps.
using Allocation = std::vector<Share>;

/// Shares rows out cyclically: machine i of N has the window of copies / N of all rows that begins
/// at offset + i / N and continues around the end.
/// Source: Yang et al., "Coded Elastic Computing", arXiv 1812.06411, section III (offset 0).
/// @param machines  ascending, at least `copies`  @param offset  a part of all rows, in [0, 1)
Allocation cyclic_allocation(std::int64_t rows, std::span<const int> machines, int copies,
                             double offset = 0);

/// Returns by how much the offset must grow when machine number `leaver` of N (from 0) leaves, so
/// that as few rows as possible change hands.
/// Source: Dau et al., "Transition Waste Optimization for Coded Elastic Computing", IEEE Trans. IT
/// 2023.
double shift_after_leave(int machines, int leaver, int copies);

/// Shares rows out in proportion to the machines' speeds; no machine has more than all rows.
/// Source: Woolsey, Chen, Ji, "Heterogeneous Computation Assignments in Coded Elastic Computing",
/// arXiv 2001.04005 and 2008.05141.
/// @param speeds  of the machines, positive, in any unit
Allocation allocation_by_speed(std::int64_t rows, std::span<const int> machines,
                               std::span<const double> speeds, int copies);
/// Returns for each machine the part of all rows that allocation_by_speed() gives it; they sum up
/// to `copies`.
std::vector<double> loads_by_speed(std::span<const double> speeds, int copies);

/// Shares rows out in pieces, so that as few pieces as possible change hands when a machine leaves
/// or joins. A maximum flow finds which. There are at most 20 P pieces, P the number of machines
/// there can be.
class FlowAllocation {
public:
    /// @param most  P
    FlowAllocation(std::int64_t rows, std::span<const int> machines, int copies, int most);
    void leave(int machine);
    void join(int machine);
    Allocation allocation() const;

private:
    std::int64_t load(int machine) const;

    std::int64_t rows_;
    int copies_;
    std::vector<int> machines_;            // ascending
    std::vector<std::vector<int>> tasks_;  // of each, who computes it, ascending
};

/// Returns how many rows a machine computes.
std::int64_t rows_of(const Allocation& allocation, int machine);

/// Returns the transition waste: how many rows the machines that stay gave up or took over, beyond
/// those by which their numbers of rows had to change.
/// @param remaining  the machines that are there before and after, ascending
std::int64_t transition_waste(const Allocation& before, const Allocation& after,
                              std::span<const int> remaining);

}  // namespace quorate
