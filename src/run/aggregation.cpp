// SPDX-License-Identifier: BSD-2-Clause
#include "run/aggregation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "fleet/nodes.hpp"
#include "fleet/replay_fleet.hpp"

namespace quorate {

namespace {

// A usual network of a cluster: 10 Gbit/s, and what a message costs beside its bytes.
constexpr double bandwidth = 1.25e9;  // bytes a second
constexpr Seconds latency = 50e-6, overhead = 2e-6;

// Whether a scheme's steps are plain weighted sums, of whose terms nobody has to know the values.
bool adds_up(const Needs& needs)
{
    return needs.coded.empty() && needs.coded_columns.empty() && !needs.fingerprint &&
           !needs.projection && !needs.places;
}

// Seconds that aggregation by node saves between the last answer that a step needs and its sum, at
// least: a union of supports is counted as no smaller than all parameters or all supports are.
Seconds saved(const Training& training, const std::vector<WorkerInfo>& workers, const Nodes& nodes)
{
    const auto number = static_cast<double>(bytes_of(training.wire));
    const auto& needs = training.coding->needs;
    const auto answers = needs.answers > 0 ? needs.answers : static_cast<int>(workers.size());
    const double used = static_cast<double>(answers) / static_cast<double>(workers.size());
    const auto parameters =
        static_cast<double>(training.model ? training.width() : training.columns);
    double flat = 0, by_node = 0, longest = 0;  // bytes into the coordinator; that a node reads
    int messages = 0;
    for (std::size_t node = 1; node < nodes.names.size(); ++node) {
        double columns = 0;
        for (const auto& worker : workers)
            if (worker.host == nodes.names[node]) columns += static_cast<double>(worker.columns);
        flat += used * columns * number;
        by_node += std::min(columns, parameters) * number;
        longest = std::max(
            longest, 2 * used * columns * static_cast<double>(bytes_of(training.precision())));
        ++messages;
    }
    return (flat - by_node) / bandwidth - 2 * latency - 2 * messages * overhead -
           longest / usual_memory_bandwidth;
}

}  // namespace

Option aggregation_option()
{
    return {
        "aggregate", "auto|flat|node|shares", "auto",
        "where contributions are added up: flat, at the coordinator; node, each node adds up those "
        "of its workers and gets each point once; or shares, each node also owns a share of the "
        "parameters, adds it up and updates it. auto: by node if there are several and that takes "
        "less time for the supports of this data set"};
}

void check_aggregation(const Training& training)
{
    const auto& settings = training.settings;
    const auto wanted = settings.one_of("aggregate", {"auto", "flat", "node", "shares"});
    if ((wanted == "node" || wanted == "shares") && !adds_up(training.coding->needs))
        settings.refuse("aggregate",
                        fmt::format(", but --scheme {} needs each contribution at the coordinator: "
                                    "use flat or auto",
                                    settings.text("scheme")));
}

std::vector<int> groups_to_aggregate(const Training& training,
                                     const std::vector<WorkerInfo>& workers)
{
    const auto& settings = training.settings;
    const auto wanted = settings.text("aggregate");
    const Nodes nodes(workers);
    if (wanted == "flat" || !adds_up(training.coding->needs) || nodes.names.size() < 2) return {};
    if (wanted == "auto" && saved(training, workers, nodes) <= 0) return {};
    std::vector<int> groups;
    for (const auto& worker : workers)
        groups.push_back(static_cast<int>(nodes.number(worker.host)));
    return groups;
}

std::vector<int> groups_to_go_on_with(const trace::Trace& trace,
                                      std::span<const WorkerInfo> workers)
{
    auto groups = recorded_groups(trace);
    if (groups.empty()) return groups;
    const auto later = workers.subspan(groups.size());
    const Nodes nodes(later, split(trace.text("nodes"), ' '));
    for (const auto& worker : later) groups.push_back(static_cast<int>(nodes.number(worker.host)));
    return groups;
}

void note_aggregation(const Training& training, const Fleet& fleet)
{
    const Nodes nodes(fleet.workers());
    if (nodes.names.size() < 2 || training.settings.text("aggregate") == "flat" ||
        !adds_up(training.coding->needs))
        return;
    const auto way = fleet.aggregation();
    log(LogLevel::note, fmt::format("{} nodes: contributions are added up {}", nodes.names.size(),
                                    way == "node"     ? "by node"
                                    : way == "shares" ? "by node, for the owners of shares"
                                                      : "at the coordinator"));
}

}  // namespace quorate
