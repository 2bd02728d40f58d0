// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/table.hpp"

namespace quorate::trace {

/// A trace as read: finished, interrupted, killed or still being written.
struct Trace {
    std::map<std::string, std::string> attributes;  // all of the root, as text
    std::vector<Round> rounds;
    std::vector<Arrival> arrivals;
    std::vector<ItemRow> items;
    std::vector<Measure> measures;
    std::vector<Timer> timers;
    std::vector<Membership> membership;
    std::vector<Evaluation> evaluations;
    std::vector<WorkerRow> workers;
    std::int64_t iterates = 0;

    const std::string& status() const { return attributes.at("status"); }
    /// Which contributions it lists: all, used or none. Traces that do not say list all.
    std::string listed() const
    {
        const auto at = attributes.find("trace_arrivals");
        return at == attributes.end() ? "all" : at->second;
    }
};

/// Local. @throws BadInput if the file is not a trace or lacks a table
Trace read(const std::string& path);

/// What contradicts itself in a trace, one line each; nothing for a sound one.
/// Checked: times ascend, used + erased = workers, used arrivals agree with the rounds, no negative
/// durations, rounds done agree with the status.
std::vector<std::string> faults(const Trace& trace);

}  // namespace quorate::trace
