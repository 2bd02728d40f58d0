// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/rows.hpp"
#include "trace/sink.hpp"

namespace quorate::trace {

/// Returns how many workers a run began with: those that joined with event 0.
inline std::int64_t first_workers(const std::vector<Membership>& membership)
{
    return std::ranges::count(membership, 0, &Membership::event);
}

/// The rounds that a run lost one time, because it went back to a checkpoint.
struct Lost {
    std::int64_t first, last;  // their numbers
    double seconds;            // that they took
    std::string why;
    std::vector<Round> rounds;
};

/// A trace in memory. Its run may be finished, interrupted, killed or still going on.
struct Trace : Tables {
    std::map<std::string, std::string> attributes;  // of the root, as text
    Header header;  // the same with their types; empty if the trace was read from a file
    std::int64_t iterates = 0;  // how many models were kept
    std::vector<Lost> lost;     // in their order; no other table has their rows
    std::vector<double> model;  // the final one; empty unless the run was kept in memory

    /// The status of the run: running, completed, interrupted or failed.
    const std::string& status() const { return attributes.at("status"); }
    /// Returns an attribute; empty if there is none of that name.
    std::string text(const std::string& name) const
    {
        const auto at = attributes.find(name);
        return at == attributes.end() ? "" : at->second;
    }
    /// Returns how many workers the run began with. Others have a row in `workers` since it was
    /// resumed with more.
    std::int64_t first_workers() const { return trace::first_workers(membership); }
    /// Returns which contributions the trace lists: all, used or none. Traces that do not say list
    /// all.
    std::string listed() const
    {
        const auto recorded = text("trace_arrivals");
        return recorded.empty() ? "all" : recorded;
    }
};

}  // namespace quorate::trace
