// SPDX-License-Identifier: BSD-2-Clause
#include "run/aggregation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/block_sums.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "fleet/nodes.hpp"
#include "fleet/replay_fleet.hpp"
#include "parts/components.hpp"

namespace quorate {

namespace {

// A usual network of a cluster: 10 Gbit/s, and what a message costs beside its bytes.
constexpr double bandwidth = 1.25e9;  // bytes a second
constexpr Seconds latency = 50e-6, overhead = 2e-6;

// Whether a scheme's steps are plain weighted sums, of whose terms nobody has to know the values.
// Sums of compressed contributions would travel whole.
bool adds_up(const Training& training)
{
    const auto& needs = training.coding->needs;
    return !training.compression && needs.coded.empty() && needs.coded_columns.empty() &&
           !needs.fingerprint && !needs.projection && !needs.places && !needs.aggregator;
}

// What a round moves between nodes, at least: a union of supports is counted as no smaller than
// all parameters or all supports are.
struct Moved {
    double used;                              // share of the answers that a step takes
    double enough = 1;                        // the same of a code whose replicas answer in time
    double all = 0, least = never, most = 0;  // bytes of the unions of all nodes, and of one
    double others = 0;                        // of those but the coordinator's
    double flat = 0;                          // of all contributions of other nodes
    double read = 0;                          // seconds that a node reads contributions
    int nodes = 0;                            // others
};

Moved moved(const Training& training, const std::vector<WorkerInfo>& workers, const Nodes& nodes)
{
    const auto number = static_cast<double>(bytes_of(training.wire));
    const auto& needs = training.coding->needs;
    const auto answers = needs.answers > 0 ? needs.answers : static_cast<int>(workers.size());
    Moved all{.used = static_cast<double>(answers) / static_cast<double>(workers.size())};
    const auto parameters =
        static_cast<double>(training.model ? training.width() : training.columns);
    double rows = 1;
    for (const auto& worker : workers) rows += static_cast<double>(worker.rows);
    all.enough = std::min(all.used, (static_cast<double>(training.rows) + 1) / rows);
    for (const auto& node : nodes.names) {
        double columns = 0;
        for (const auto& worker : workers)
            if (worker.host == node) columns += static_cast<double>(worker.columns);
        const auto bytes = std::min(columns, parameters) * number;
        all.all += bytes;
        all.least = std::min(all.least, bytes);
        all.most = std::max(all.most, bytes);
        if (node == nodes.names[0]) continue;
        all.flat += all.used * columns * number;
        all.others += bytes;
        all.read = std::max(all.read, 2 * all.used * columns *
                                          static_cast<double>(bytes_of(training.precision())) /
                                          usual_memory_bandwidth);
        ++all.nodes;
    }
    return all;
}

// Seconds that aggregation by node saves between the last answer that a step needs and its sum.
double saved_by_node(const Moved& moved)
{
    return (moved.flat - moved.others) / bandwidth - 2 * latency - 2 * moved.nodes * overhead -
           moved.read;
}

// Whether shares take at most half the time of the other ways, from the last answer to the workers'
// next points. By node the nodes take turns, and a code with replicas waits for few of them.
bool shares_are_faster(const Moved& moved)
{
    const auto in_or_out =
        std::max(moved.most * moved.nodes, moved.all - moved.least) / (moved.nodes + 1);
    const auto shares =
        (1 + moved.used) * in_or_out / bandwidth + 4 * latency + 4 * moved.nodes * overhead;
    return shares < moved.enough * moved.others / bandwidth;
}

// The numbers of the nodes of workers.
std::vector<int> numbers_of(const Nodes& nodes, std::span<const WorkerInfo> workers)
{
    std::vector<int> groups;
    for (const auto& worker : workers)
        groups.push_back(static_cast<int>(nodes.number(worker.host)));
    return groups;
}

// Whether the parameters of a run can be shared out over so many hosts.
bool can_share(const Training& training, std::ptrdiff_t hosts)
{
    const auto parameters = training.model ? training.width() : training.columns;
    return why_no_shares(training.settings).empty() &&
           std::cmp_greater_equal(parameters, sum_block * hosts);
}

Aggregation::Way way_of(const std::string& word)
{
    using enum Aggregation::Way;
    return word == "shares" ? shares : word == "flat" ? flat : node;
}

}  // namespace

Option aggregation_option()
{
    return {
        "aggregate", "auto|flat|node|shares", "auto",
        "where contributions are added up: flat, at the coordinator; node, each node adds up those "
        "of its workers and gets each point once; or shares, each node also owns a share of the "
        "parameters, adds it up and updates it. auto: what takes least time for the supports of "
        "this data set"};
}

void check_aggregation(const Training& training)
{
    const auto& settings = training.settings;
    const auto wanted = settings.one_of("aggregate", {"auto", "flat", "node", "shares"});
    if ((wanted == "node" || wanted == "shares") && !adds_up(training))
        settings.refuse("aggregate",
                        fmt::format(", but {} needs each contribution at the coordinator: use flat "
                                    "or auto",
                                    training.compression ? "--compressor"
                                                         : "--scheme " + settings.text("scheme")));
}

std::string why_no_shares(const Settings& settings)
{
    const auto is = [&](const char* option, const char* value) {
        return settings.has(option) && settings.text(option) == value;
    };
    if (settings.integer("standby", 0) > 0)
        return "--standby gives dead workers' places to ranks of other hosts";
    if (is("transport", "messages")) return "--transport messages shares no memory";
    if (is("evaluate", "live")) return "--evaluate live needs whole models";
    if (settings.on("optimizer") && !chosen(optimizers(), settings, "optimizer").properties.shares)
        return fmt::format("--optimizer {} needs all parameters in one process",
                           settings.text("optimizer"));
    return "";
}

bool may_choose_shares(const Settings& settings)
{
    // Without a checkpoint a resilient run would not survive the death of an owner.
    const bool is_resilient = settings.has("resilient") && settings.on("resilient");
    return why_no_shares(settings).empty() && (!is_resilient || settings.on("checkpoint"));
}

std::vector<std::string> possible_ways(const Training& training, int hosts)
{
    std::vector<std::string> ways = {"flat"};
    if (hosts < 2 || !adds_up(training)) return ways;
    ways.emplace_back("node");
    if (can_share(training, hosts)) ways.emplace_back("shares");
    return ways;
}

Aggregation aggregation_of(const Training& training, const std::vector<WorkerInfo>& workers)
{
    const auto& settings = training.settings;
    const auto wanted = settings.text("aggregate");
    const Nodes nodes(workers);
    const auto hosts = std::ssize(nodes.names);
    if (wanted == "flat" || !adds_up(training) || hosts < 2) return {};
    if (wanted != "auto") return {way_of(wanted), numbers_of(nodes, workers)};
    const auto all = moved(training, workers, nodes);
    if (can_share(training, hosts) && may_choose_shares(settings) && shares_are_faster(all))
        return {Aggregation::Way::shares, numbers_of(nodes, workers)};
    if (saved_by_node(all) <= 0) return {};
    return {Aggregation::Way::node, numbers_of(nodes, workers)};
}

bool goes_on_over_shares(const Settings& settings, const trace::Trace& trace)
{
    const auto wanted = settings.text("aggregate");
    return wanted == "shares" || (wanted == "auto" && trace.text("aggregate") == "shares");
}

Aggregation aggregation_to_go_on_with(const Training& training, const trace::Trace& trace,
                                      std::span<const WorkerInfo> workers)
{
    auto groups = recorded_groups(trace);
    if (groups.empty()) return {};
    const auto later = workers.subspan(groups.size());
    const auto numbers = numbers_of(Nodes(later, split(trace.text("nodes"), ' ')), later);
    groups.insert(groups.end(), numbers.begin(), numbers.end());
    const auto way = goes_on_over_shares(training.settings, trace)
                         ? Aggregation::Way::shares
                         : way_of(training.settings.text("aggregate"));
    return {way, std::move(groups)};
}

std::string words_of_way(const std::string& way)
{
    return way == "node"     ? "by node"
           : way == "shares" ? "by node, for the owners of shares"
                             : "at the coordinator";
}

void note_aggregation(const Training& training, const Fleet& fleet)
{
    const Nodes nodes(fleet.workers());
    if (nodes.names.size() < 2 || training.settings.text("aggregate") == "flat" ||
        !adds_up(training))
        return;
    const auto way = fleet.aggregation();
    log(LogLevel::note, fmt::format("{} nodes: contributions are added up {}", nodes.names.size(),
                                    words_of_way(way)));
}

}  // namespace quorate
