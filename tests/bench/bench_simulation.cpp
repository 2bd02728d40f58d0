// SPDX-License-Identifier: BSD-2-Clause
// Rounds of a dry run under the virtual clock, through the whole engine. The bound is what no
// simulation of 10,000 workers can do without: to draw their delays and to find the smallest in each
// group. Reported: the time of a round and arrivals a second.
#include <benchmark/benchmark.h>

#include "../unit/simulation.hpp"

namespace {

using namespace quorate;

constexpr int workers = 10000;
constexpr std::int64_t rounds = 20;

void dry_run(benchmark::State& state, const std::string& scheme, const std::string& stragglers)
{
    test::Simulation simulation{scheme, {}, workers, rounds};
    if (!stragglers.empty()) simulation.options["stragglers"] = stragglers;
    simulation.rows_each = 1000;
    for (auto _ : state) benchmark::DoNotOptimize(simulation.run());
    state.counters["round"] =
        benchmark::Counter(static_cast<double>(state.iterations() * rounds),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(dry_run, uncoded, "uncoded", "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(dry_run, frc, "frc", "1")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(dry_run, agc, "agc", "1")->Unit(benchmark::kMillisecond);

void bound_draws_alone(benchmark::State& state)
{
    const auto delays = test::make_delays("exponential:1", workers, 1);
    std::int64_t round = 0;
    for (auto _ : state) {
        double last = 0;
        for (int worker = 0; worker < workers; worker += 2)
            last = std::max(
                last, std::min(delays->draw(worker, round, 0), delays->draw(worker + 1, round, 0)));
        benchmark::DoNotOptimize(last);
        ++round;
    }
}
BENCHMARK(bound_draws_alone)->Unit(benchmark::kMillisecond);

}  // namespace
