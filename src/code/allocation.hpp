// SPDX-License-Identifier: BSD-2-Clause
// Who computes which of the coded rows: each row on `copies` machines, as many rows on each machine as
// its speed allows. Rows are counted from 0 in every machine's coded block.
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

/// Ascending by row, without gaps.
using Allocation = std::vector<Share>;

/// Machine i of N has the window of copies / N of all rows that begins at offset + i / N, around the end.
/// Yang et al. 2018, section III (offset 0).
/// @param machines  ascending, at least `copies`  @param offset  a part of all rows, in [0, 1)
Allocation cyclic_allocation(std::int64_t rows, std::span<const int> machines, int copies,
                             double offset = 0);

/// By how much the offset grows when machine number `leaver` of N (from 0) leaves, so that least is
/// given up and taken over. Dau et al., "Transition Waste Optimization for Coded Elastic Computing",
/// IEEE Trans. IT 2023.
double shift_after_leave(int machines, int leaver, int copies);

/// Each machine's rows in proportion to its speed, none more than all of them.
/// Woolsey, Chen, Ji, "Heterogeneous Computation Assignments in Coded Elastic Computing",
/// arXiv 2001.04005 and 2008.05141.
/// @param speeds  of the machines, positive, in any unit
Allocation allocation_by_speed(std::int64_t rows, std::span<const int> machines,
                               std::span<const double> speeds, int copies);
/// Parts of all rows that machines of these speeds compute there; they sum up to `copies`.
std::vector<double> loads_by_speed(std::span<const double> speeds, int copies);

/// Tasks on machines so that as few as possible change hands when one leaves or joins, by maximum
/// flow. A task is one of at most 20 P pieces of the rows.
class FlowAllocation {
public:
    /// @param most  machines there can be
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

/// Rows that a machine computes.
std::int64_t rows_of(const Allocation& allocation, int machine);

/// Rows that machines which are there before and after gave up or took over, beyond those by which
/// their numbers of rows had to change.
std::int64_t transition_waste(const Allocation& before, const Allocation& after,
                              std::span<const int> remaining);

}  // namespace quorate
