// SPDX-License-Identifier: BSD-2-Clause
// Simulated nodes: how long a round takes and how many bytes travel, against closed forms.
#include <gtest/gtest.h>

#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using test::refusal;

// Eight workers on four nodes, two on each; a vector takes v seconds on a link, a header h.
constexpr double latency = 0.01, bandwidth = 1e6, memory_bandwidth = 1e8;
constexpr double size = 10000, vector_bytes = 8 * size, header = 64, term = 40, release = 16;
constexpr double v = vector_bytes / bandwidth, h = header / bandwidth;

trace::Trace simulated(Options more)
{
    more.insert({{"dry", "on"},
                 {"workers", "8"},
                 {"nodes", "4"},
                 {"rounds", "3"},
                 {"columns", "10000"},
                 {"latency", "0.01"},
                 {"bandwidth", "1e6"},
                 {"memory-bandwidth", "1e8"}});
    return simulate(make_settings(simulation_options(), more));
}

void expect_rounds_of(const trace::Trace& trace, double seconds)
{
    ASSERT_EQ(trace.rounds.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(trace.rounds[i].time, static_cast<double>(i + 1) * seconds, 1e-12);
}

void expect_bytes_of_rounds(const trace::Trace& trace, double sent, double received)
{
    for (const auto& round : trace.rounds) {
        EXPECT_EQ(static_cast<double>(round.bytes_sent), sent);
        EXPECT_EQ(static_cast<double>(round.bytes_received), received);
    }
}

// Seconds from the last answer to the sum where so many nodes share the coordinator's link.
double summing(double nodes)
{
    const double order = h + 2 * term / bandwidth;
    return nodes * order + 2 * latency + 2 * 16 * size / memory_bandwidth + nodes * (h + v);
}

TEST(SimulatedNodes, FlatEachOfTheSixWorkersElsewhereTakesTheCoordinatorsPort)
{
    const auto trace = simulated({{"aggregate", "flat"}});
    EXPECT_EQ(trace.text("aggregate"), "flat");
    // Tasks share the port, so all answers come after the last task.
    expect_rounds_of(trace, 2 * latency + 12 * (h + v));
    expect_bytes_of_rounds(trace, 8 * (header + vector_bytes), 8 * (header + vector_bytes));
}

TEST(SimulatedNodes, ByNodeEachOfTheThreeNodesDoes)
{
    const auto trace = simulated({{"aggregate", "node"}});
    EXPECT_EQ(trace.text("aggregate"), "node");
    // To a node go the point, whom to hand it out to, and two tasks. The last node's headers come
    // back last.
    expect_rounds_of(trace, 3 * (4 * h + v) + 2 * latency + 2 * h + summing(3));
    expect_bytes_of_rounds(trace,
                           2 * (header + vector_bytes) + 3 * (4 * header + vector_bytes) +
                               3 * (header + 2 * term) + 6 * release,
                           2 * (header + vector_bytes) + 6 * header + 3 * (header + vector_bytes));
}

TEST(SimulatedNodes, WithALinkForEachNodeTheWorkersOfANodeShareIt)
{
    const auto flat = simulated({{"aggregate", "flat"}, {"port", "separate"}});
    expect_rounds_of(flat, 2 * latency + 4 * (h + v));
    const auto node = simulated({{"aggregate", "node"}, {"port", "separate"}});
    expect_rounds_of(node, 4 * h + v + 2 * latency + 2 * h + summing(1));
}

// Four shares of one vector, 16,384 numbers.
const Options four_shares = {{"aggregate", "shares"}, {"columns", "16384"}};
constexpr double share_bytes = 8 * 4096, head = 100, of_report = 8;

TEST(SimulatedNodes, OverSharesALinkCarriesThreeQuartersOfAVectorTwice)
{
    const auto trace = simulated(four_shares);
    const double adding = 2 * 16 * 16384 / memory_bandwidth;
    ASSERT_EQ(trace.rounds.size(), 3U);
    // From the start of the workers: heads, what hosts are told of them, slices of the sum, those
    // of the point. Meanwhile the coordinator has ended the step. The last host is told by another.
    const auto round = 4 * latency + adding + 2 * 3 * share_bytes / bandwidth;
    const double told = 8 * 3 * (header + head);
    const auto headers = told / bandwidth + 10 * h;  // at most
    for (std::size_t i = 1; i < 3; ++i) {
        const auto seconds = trace.rounds[i].time - trace.rounds[i - 1].time;
        EXPECT_GT(seconds, round);
        EXPECT_LT(seconds, round + latency + headers);
    }
    const double tasks = 8 * header, ended = 3 * header;
    const double slices = 12 * (header + share_bytes);
    expect_bytes_of_rounds(trace, tasks + told + slices + ended,
                           8 * header + slices + 3 * (header + of_report));
}

TEST(SimulatedNodes, OverSharesARoundHardlyGrowsWithHosts)
{
    const auto seconds = [](const std::string& nodes, const std::string& workers) {
        auto options = four_shares;
        options["columns"] = "262144";
        options["nodes"] = nodes;
        options["workers"] = workers;
        return simulated(options).rounds.back().time;
    };
    EXPECT_LT(seconds("16", "32"), 1.3 * seconds("4", "8"));
}

TEST(SimulatedNodes, WorkersOfTheCoordinatorsNodeNeedNoNetwork)
{
    const auto trace = simulated({{"aggregate", "flat"}});
    for (const auto& arrival : trace.arrivals)
        EXPECT_EQ(arrival.arrived == arrival.sent, arrival.worker % 4 == 0) << arrival.worker;
    EXPECT_EQ(trace.text("shared_workers"), "2");
}

TEST(SimulatedNodes, AddingUpTakesNoTimeWhereMessagesTakeNone)
{
    for (const auto* way : {"flat", "node", "shares"}) {
        const Options free = {{"dry", "on"},     {"workers", "8"},       {"nodes", "4"},
                              {"rounds", "3"},   {"columns", "10000"},   {"aggregate", way},
                              {"scheme", "frc"}, {"delay", "constant:2"}};
        expect_rounds_of(simulate(make_settings(simulation_options(), free)), 2);
    }
}

TEST(SimulatedNodes, AnswersThatComeDuringASumAreToldAfterIt)
{
    // Half of the workers are late by less than the sum takes.
    const auto trace = simulated({{"aggregate", "node"},
                                  {"scheme", "async"},
                                  {"delay", "exponential:0.2"},
                                  {"rounds", "40"},
                                  {"trace-arrivals", "all"}});
    ASSERT_EQ(trace.rounds.size(), 40U);
    double time = 0;
    std::size_t late = 0;
    for (const auto& arrival : trace.arrivals) {
        EXPECT_GE(arrival.arrived, time);
        late += arrival.arrived == time;
        time = arrival.arrived;
    }
    EXPECT_GT(late, 0U);
}

TEST(SimulatedNodes, NamesHostsAndRanksAsOverMpi)
{
    const auto trace = simulated({{"workers", "7"}, {"nodes", "3"}, {"aggregate", "node"}});
    EXPECT_EQ(trace.text("nodes"), "node0 node1 node2");
    std::vector<std::int64_t> nodes, ranks;
    for (const auto& worker : trace.workers) {
        nodes.push_back(worker.node);
        ranks.push_back(worker.rank);
    }
    EXPECT_EQ(nodes, (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0}));
    EXPECT_EQ(ranks, (std::vector<std::int64_t>{1, 4, 6, 2, 5, 7, 3}));
}

TEST(SimulatedNodes, RefuseWhatCannotBe)
{
    const auto refused = [](const Options& values) { return refusal([&] { simulated(values); }); };
    EXPECT_EQ(refused({{"nodes", "0"}}), "--nodes is 0: use at least 1");
    EXPECT_EQ(refused({{"nodes", "9"}}),
              "--nodes is 9, but there are 8 workers for them: use at most 8");
    EXPECT_EQ(refused({{"aggregate", "node"}, {"scheme", "draco-repetition"}}),
              "--aggregate is node, but --scheme draco-repetition needs each contribution at the "
              "coordinator: use flat or auto");
    EXPECT_NE(refused({{"aggregate", "nodes"}}).find("did you mean node"), std::string::npos);
    EXPECT_NE(refused({{"memory-bandwidth", "0"}}).find("--memory-bandwidth is 0"),
              std::string::npos);
}

}  // namespace
}  // namespace quorate
