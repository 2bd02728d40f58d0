// SPDX-License-Identifier: BSD-2-Clause
// The distance R of schemes and runs in their trees of computations, against trees that are built
// node by node, and the step that follows from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "commands/distance.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "scheme/newest/theory.hpp"
#include "scheme/schemes.hpp"
#include "support.hpp"

namespace quorate {
namespace {

// A tree whose nodes are reached from their parents by a gradient each.
class Nodes {
public:
    int child(int parent, std::int64_t gradient)
    {
        const auto [at, made] = children_.try_emplace({parent, gradient}, std::ssize(parents_));
        if (made) {
            parents_.push_back(parent);
            depths_.push_back(depths_[static_cast<std::size_t>(parent)] + 1);
        }
        return static_cast<int>(at->second);
    }
    /// Edges from the last common ancestor of a base point and a gradient point to the former. The
    /// latter must have no gradient that the base lacks, so it may not be further away.
    std::int64_t distance(int base, int point) const
    {
        const auto of_base = depth(base), of_point = depth(point);
        while (base != point)
            (depth(base) > depth(point) ? base : point) =
                parent(depth(base) > depth(point) ? base : point);
        EXPECT_LE(of_point, of_base);
        return of_base - depth(base);
    }

private:
    int parent(int node) const { return parents_[static_cast<std::size_t>(node)]; }
    std::int64_t depth(int node) const { return depths_[static_cast<std::size_t>(node)]; }

    std::vector<int> parents_ = {0};
    std::vector<std::int64_t> depths_ = {0};
    std::map<std::pair<int, std::int64_t>, std::ptrdiff_t> children_;
};

// The largest distance of a run, with the contributions of each update in the order for which it is
// least, found by trying all.
std::int64_t distance_by_trees(const trace::Trace& trace, bool local)
{
    Nodes nodes;
    std::vector<int> versions = {0};
    std::int64_t gradients = 0, largest = 0;
    for (std::int64_t update = 1; update <= std::ssize(trace.rounds); ++update) {
        struct Used {
            Version version;
            std::vector<std::int64_t> gradients;
        };
        std::vector<Used> used;
        for (const auto& one : trace.arrivals) {
            if (one.used != update) continue;
            std::vector<std::int64_t> own(local ? static_cast<std::size_t>(one.samples)
                                                : std::size_t{1});
            std::iota(own.begin(), own.end(), gradients);
            gradients += std::ssize(own);
            used.push_back({one.version, own});
        }
        std::vector<std::size_t> order(used.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        int best = 0;
        do {
            int base = versions.back();
            std::int64_t apart = 0;
            for (const auto i : order) {
                int point = versions[static_cast<std::size_t>(used[i].version)];
                for (const auto gradient : used[i].gradients) {
                    apart = std::max(apart, nodes.distance(base, point));
                    base = nodes.child(base, gradient);
                    if (local) point = nodes.child(point, gradient);
                }
            }
            if (apart < least) {
                least = apart;
                best = base;
            }
        } while (std::ranges::next_permutation(order).found);
        largest = std::max(largest, least);
        versions.push_back(best);
    }
    return largest;
}

// Options of a scheme that change its tree: those of these that it has.
std::vector<Options> tried(const Entry<MakeScheme>& entry)
{
    const std::vector<std::pair<std::string, std::vector<std::string>>> values = {
        {"staleness-cap", {"", "0", "1", "4"}},
        {"collect", {"", "1", "4"}},
        {"keep-going", {"off", "on"}},
        {"stop-stale", {"off", "on"}},
        {"staleness-scale", {"none", "inverse"}},
        {"restart-after", {"", "auto"}},
        {"local-steps", {"1", "3"}},
        {"total", {"", "5"}}};
    std::vector<Options> all = {{}};
    for (const auto& [name, words] : values) {
        if (std::ranges::find(entry.options, name, &Option::name) == entry.options.end()) continue;
        std::vector<Options> more;
        for (const auto& options : all)
            for (const auto& word : words) {
                more.push_back(options);
                if (!word.empty()) more.back()[name] = word;
            }
        all = std::move(more);
    }
    return all;
}

TEST(EveryScheme, KeepsTheDistanceInItsTreeOfComputations)
{
    std::size_t with_trees = 0;
    for (const auto& entry : schemes()) {
        if (!entry.properties.tree) continue;
        ++with_trees;
        bool reached = false;
        for (const auto& options : tried(entry))
            for (const auto* delay : {"exponential:1", "pareto:0.1,1.1"})
                for (int seed = 0; seed < 2; ++seed) {
                    Options run = options;
                    run.insert({{"dry", "on"},
                                {"scheme", entry.name},
                                {"workers", "5"},
                                {"rows", "50"},
                                {"row-time", "0.02"},
                                {"rounds", "60"},
                                {"delay", delay},
                                {"seed", std::to_string(seed)}});
                    const auto trace = simulate(make_settings(simulation_options(), run));
                    const auto tree =
                        entry.properties.tree(make_settings(entry.options, options), 5);
                    const auto distance = distance_of(trace);
                    ASSERT_TRUE(distance) << entry.name;
                    EXPECT_EQ(distance->bound, tree.distance()) << entry.name;
                    EXPECT_EQ(distance->largest, distance_by_trees(trace, tree.local))
                        << entry.name;
                    if (!tree.distance()) continue;
                    EXPECT_LE(distance->largest, *tree.distance()) << entry.name;
                    reached |= distance->largest == *tree.distance();
                }
        EXPECT_TRUE(reached) << entry.name;
    }
    EXPECT_GE(with_trees, 7U);
}

TEST(ComputationTree, HasTheDistancesOfRennalaAndRingmaster)
{
    const auto distance = [](const std::string& scheme, const Options& options) {
        const auto& entry = test::entry(schemes(), scheme);
        return entry.properties.tree(make_settings(entry.options, options), 8).distance();
    };
    EXPECT_EQ(distance("rennala", {{"collect", "20"}}), 19);
    EXPECT_EQ(distance("ringmaster", {}), 7);
    EXPECT_EQ(distance("ringmaster", {{"noise", "2"}, {"target-gradient", "0.1"}}), 19);
    EXPECT_EQ(distance("ringmaster", {{"staleness-cap", "4"}}), 4);
    EXPECT_EQ(distance("async", {}), std::nullopt);
    EXPECT_EQ(distance("async", {{"staleness-cap", "9223372036854775807"}}), std::nullopt);
    EXPECT_EQ(distance("local-sgd", {{"total", "20"}, {"local-steps", "4"}}), 19);
    EXPECT_EQ(distance("async-local", {{"staleness-cap", "2"}, {"local-steps", "4"}}), 11);
    EXPECT_EQ(distance("k-async", {{"collect", "3"}, {"staleness-cap", "2"}}), 8);
}

TEST(ComputationTree, OfADamagedTraceIsNotKnown)
{
    auto trace = simulate(make_settings(
        simulation_options(),
        {{"dry", "on"}, {"scheme", "async"}, {"workers", "3"}, {"rows", "30"}, {"rounds", "9"}}));
    EXPECT_TRUE(distance_of(trace));
    for (const Version version : {-1, 9, 1000}) {
        auto damaged = trace;
        damaged.arrivals[1].version_oldest = version;
        EXPECT_FALSE(distance_of(damaged)) << version;
    }
    trace.arrivals.clear();
    trace.attributes["trace_arrivals"] = "none";
    EXPECT_FALSE(distance_of(trace));
}

TEST(ComputationTree, AllowsTheLeastOfThreeSteps)
{
    const Theory smooth{.lipschitz = 2, .noise = {}, .target = {}};
    EXPECT_EQ(Theory{}.gradient_step(3), std::nullopt);
    EXPECT_DOUBLE_EQ(*smooth.gradient_step(0), 0.25);
    EXPECT_DOUBLE_EQ(*smooth.gradient_step(1), 0.25);
    EXPECT_DOUBLE_EQ(*smooth.gradient_step(5), 0.05);
    const Theory noisy{.lipschitz = 2, .noise = 0.5, .target = 0.1};
    EXPECT_DOUBLE_EQ(*noisy.gradient_step(5), 0.025);
    EXPECT_DOUBLE_EQ(*noisy.gradient_step(50), 0.005);
}

}  // namespace
}  // namespace quorate
