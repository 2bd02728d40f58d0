// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/rows.hpp"

namespace quorate::trace {

/// A trace in memory: of a run that is finished, interrupted, killed or still going on.
struct Trace {
    std::map<std::string, std::string> attributes;  // of the root, as text
    std::vector<Round> rounds;
    std::vector<Arrival> arrivals;
    std::vector<ItemRow> items;
    std::vector<Measure> measures;
    std::vector<Timer> timers;
    std::vector<Membership> membership;
    std::vector<Evaluation> evaluations;
    std::vector<WorkerRow> workers;
    std::int64_t iterates = 0;  // models that were kept
    std::vector<double> model;  // the final one, if the run is over and was kept in memory

    std::vector<Round>& table(const Round&) { return rounds; }
    std::vector<Arrival>& table(const Arrival&) { return arrivals; }
    std::vector<ItemRow>& table(const ItemRow&) { return items; }
    std::vector<Measure>& table(const Measure&) { return measures; }
    std::vector<Timer>& table(const Timer&) { return timers; }
    std::vector<Membership>& table(const Membership&) { return membership; }
    std::vector<Evaluation>& table(const Evaluation&) { return evaluations; }
    std::vector<WorkerRow>& table(const WorkerRow&) { return workers; }

    const std::string& status() const { return attributes.at("status"); }
    /// An attribute; empty if there is none.
    std::string text(const std::string& name) const
    {
        const auto at = attributes.find(name);
        return at == attributes.end() ? "" : at->second;
    }
    /// Which contributions it lists: all, used or none. Traces that do not say list all.
    std::string listed() const
    {
        const auto recorded = text("trace_arrivals");
        return recorded.empty() ? "all" : recorded;
    }
};

}  // namespace quorate::trace
