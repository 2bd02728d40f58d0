// SPDX-License-Identifier: BSD-2-Clause
// Rounds of a dry run under the virtual clock, through the whole engine, with few and with many
// workers. The bound is what no simulation can do without: to draw the delays and to find the
// smallest in each group. Reported: the time of a task.
#include <benchmark/benchmark.h>

#include "../unit/simulation.hpp"

namespace {

using namespace quorate;

// The time of a task that is given and answered.
void report(benchmark::State& state, std::int64_t tasks)
{
    state.counters["task"] =
        benchmark::Counter(static_cast<double>(state.iterations() * tasks),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void dry_run(benchmark::State& state, const std::string& scheme, const std::string& stragglers)
{
    constexpr std::int64_t tasks = 1'000'000;
    const auto workers = static_cast<int>(state.range(0));
    test::Simulation simulation{scheme, {}, workers, tasks / workers};
    if (!stragglers.empty()) simulation.options["stragglers"] = stragglers;
    simulation.rows_each = 1000;
    for (auto _ : state) benchmark::DoNotOptimize(simulation.run());
    report(state, tasks);
}
void sizes(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(dry_run, uncoded, "uncoded", "")->Apply(sizes);
BENCHMARK_CAPTURE(dry_run, frc, "frc", "1")->Apply(sizes);
BENCHMARK_CAPTURE(dry_run, agc, "agc", "1")->Apply(sizes);

// Time of a message, 1000 workers: what coordinator and simulator together do for it.
void messages(benchmark::State& state, const std::string& scheme, const test::Options& options,
              std::int64_t messages_a_round)
{
    constexpr std::int64_t messages = 100'000;
    test::Simulation simulation{scheme, options, 1000, messages / messages_a_round};
    simulation.delay = "exponential:0.5";
    simulation.row_time = 1e-3;
    simulation.rows_each = 1000;
    for (auto _ : state) benchmark::DoNotOptimize(simulation.run());
    state.counters["message"] =
        benchmark::Counter(static_cast<double>(state.iterations() * messages),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
void message(benchmark::State& state, const std::string& scheme, const std::string& option,
             const std::string& value, std::int64_t messages_a_round)
{
    messages(state, scheme, option.empty() ? test::Options{} : test::Options{{option, value}},
             messages_a_round);
}
BENCHMARK_CAPTURE(message, uncoded, "uncoded", "", "", 1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, amb, "amb", "compute-time", "1", 1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, amb_dg, "amb-dg", "compute-time", "1", 1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, async, "async", "", "", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, ringmaster, "ringmaster", "staleness-cap", "500", 1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, ringleader, "ringleader", "", "", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, ia2sgd, "ia2sgd", "", "", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, dsag, "dsag", "balance", "off", 800)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, dsag_balance, "dsag", "balance", "equal", 800)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, k_batch_sync, "k-batch-sync", "collect", "500", 500)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, restarts, "k-batch-sync", "restart-after", "auto", 500)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, malenia, "malenia", "most", "64", 1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, mindflayer, "mindflayer", "restart-after", "2", 500)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, ata, "ata", "tasks", "1000", 800)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, k_async, "k-async", "collect", "500", 500)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, k_batch_async, "k-batch-async", "collect", "500", 500)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, pgc_frc, "pgc-frc", "stragglers", "3", 250)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, sr_sgc, "sr-sgc", "lambda", "20", 1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(message, m_sgc, "m-sgc", "lambda", "20", 1000)->Unit(benchmark::kMillisecond);
// Of groups of four, about 1,400 chunks are done, or their heads come, before each chunk has come
// once.
BENCHMARK_CAPTURE(messages, partial_chunk, "partial", {{"stragglers", "3"}, {"placement", "frc"}},
                  1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(messages, partial_prefix, "partial",
                  {{"stragglers", "3"}, {"messages", "prefix"}, {"deadline", "3"}}, 1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(messages, partial_late, "partial",
                  {{"stragglers", "3"}, {"placement", "frc"}, {"messages", "late"}}, 2000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(messages, short_cyclic, "short-cyclic", {{"stragglers", "3"}}, 997)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(messages, adaptive, "ignore", {{"deadline", "adaptive:500,5"}}, 955)
    ->Unit(benchmark::kMillisecond);

void bound_draws_alone(benchmark::State& state)
{
    const auto workers = static_cast<int>(state.range(0));
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
    report(state, workers);
}
BENCHMARK(bound_draws_alone)->Apply(sizes);

}  // namespace
