// SPDX-License-Identifier: BSD-2-Clause
#include "commands/distance.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "run/recorded.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

namespace {

// Returns the tree of the scheme that a run had, with its options.
std::optional<ComputationTree> tree_of(const trace::Trace& trace)
{
    const auto entry = std::ranges::find(schemes(), trace.text("scheme"), &Entry<MakeScheme>::name);
    if (entry == schemes().end() || !entry->properties.tree) return std::nullopt;
    auto settings = make_settings(entry->options, {});
    for (const auto& [name, value] : recorded_options(trace.text("config")))
        if (settings.has(name) && settings.text(name) != value)
            settings.set(name, {value, "", true});
    return entry->properties.tree(settings, static_cast<int>(trace.first_workers()));
}

// Whether the run went on with a code for other workers, for which the bound was another one.
bool coded_anew(const trace::Trace& trace)
{
    return std::ranges::any_of(trace.membership, [](const auto& row) {
        const auto kind = static_cast<trace::Change>(row.kind);
        return kind == trace::Change::reencoded || kind == trace::Change::resumed;
    });
}

// Returns the largest distance of the gradients of one update.
// @param these   its contributions, by the age of their points
// @param before  gradients in each version
std::int64_t largest_of(const std::vector<const trace::Arrival*>& these,
                        const std::vector<std::int64_t>& before, bool local)
{
    std::int64_t largest = 0, between = 0;
    for (const auto* one : these) {
        const auto base = before[static_cast<std::size_t>(one->used - 1)];
        const auto apart = base - before[static_cast<std::size_t>(one->version_oldest)] + between;
        const auto gradients = local ? one->samples : 1;
        // Local steps from the base itself are the path that leads on from it.
        if (apart > 0) largest = std::max(largest, apart + gradients - 1);
        between += gradients;
    }
    return largest;
}

}  // namespace

std::optional<Distance> distance_of(const trace::Trace& trace)
{
    if (trace.rounds.empty() || trace.listed() == "none") return std::nullopt;
    const auto tree = tree_of(trace);
    if (!tree) return std::nullopt;
    std::vector<std::vector<const trace::Arrival*>> of_update(trace.rounds.size());
    for (const auto& one : trace.arrivals) {
        if (one.used <= 0 || one.used > std::ssize(of_update)) continue;
        // Of a damaged trace nothing is said.
        if (one.version_oldest < 0 || one.version_oldest >= one.used) return std::nullopt;
        of_update[static_cast<std::size_t>(one.used - 1)].push_back(&one);
    }
    Distance found{0, coded_anew(trace) ? std::nullopt : tree->distance()};
    std::vector<std::int64_t> before = {0};
    for (auto& these : of_update) {
        std::ranges::stable_sort(these, {}, &trace::Arrival::version_oldest);
        found.largest = std::max(found.largest, largest_of(these, before, tree->local));
        before.push_back(before.back());
        for (const auto* one : these) before.back() += tree->local ? one->samples : 1;
    }
    return found;
}

}  // namespace quorate
