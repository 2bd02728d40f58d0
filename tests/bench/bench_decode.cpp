// SPDX-License-Identifier: BSD-2-Clause
// Decoding: what the coordinator computes before it can add up, for a new pattern of stragglers and
// for one that it has seen. The rival is dense least squares on the rows of those who answered.
#include <benchmark/benchmark.h>

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>
#include <random>

#include "code/assignments.hpp"
#include "code/collect_decoder.hpp"
#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "code/reed_solomon.hpp"

namespace {

using namespace quorate;

// Many random orders in which n workers may answer.
std::vector<std::vector<int>> orders(int n, int count)
{
    std::mt19937 generator(1);
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::vector<int>> all;
    for (int i = 0; i < count; ++i) {
        std::ranges::shuffle(order, generator);
        all.push_back(order);
    }
    return all;
}

void decode(benchmark::State& state, GradientCode code, int patterns)
{
    const auto all = orders(code.encoding.workers(), patterns);
    std::size_t next = 0;
    for (auto _ : state) {
        code.decoder->begin();
        for (const int worker : all[next])
            if (const auto* decoding = code.decoder->receive(worker)) {
                benchmark::DoNotOptimize(decoding);
                break;
            }
        next = (next + 1) % all.size();
    }
}

constexpr int n = 100, s = 9;
constexpr int fresh = 20000;  // more than the cache holds

void cyclic_new_pattern(benchmark::State& state) { decode(state, cyclic_code(n, s), fresh); }
void cyclic_known_pattern(benchmark::State& state) { decode(state, cyclic_code(n, s), 1); }
void cyclic_thousand_known_patterns(benchmark::State& state)
{
    decode(state, cyclic_code(n, s), 1000);
}
BENCHMARK(cyclic_new_pattern)->Unit(benchmark::kMicrosecond);
BENCHMARK(cyclic_known_pattern)->Unit(benchmark::kMicrosecond);
BENCHMARK(cyclic_thousand_known_patterns)->Unit(benchmark::kMicrosecond);

void rival_dense_least_squares(benchmark::State& state)
{
    const auto encoding = cyclic_code(n, s).encoding;
    Eigen::MatrixXd b = Eigen::MatrixXd::Zero(encoding.partitions, n);  // transposed
    for (int i = 0; i < n; ++i)
        for (const auto& [j, value] : encoding.rows[static_cast<std::size_t>(i)][0])
            b(j, i) = value;
    const auto all = orders(n, 100);
    std::size_t next = 0;
    for (auto _ : state) {
        const std::vector<int> received(all[next].begin(), all[next].end() - s);
        const Eigen::MatrixXd rows = b(Eigen::all, received);
        const Eigen::VectorXd a =
            rows.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(encoding.partitions));
        benchmark::DoNotOptimize(a.data());
        next = (next + 1) % all.size();
    }
}
BENCHMARK(rival_dense_least_squares)->Unit(benchmark::kMicrosecond);

// Half of the workers answer.
void repetition(benchmark::State& state)
{
    const auto workers = static_cast<int>(state.range(0));
    decode(state, approximate_repetition(workers, 3, workers / 2, true), 16);
}
BENCHMARK(repetition)->Arg(100)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

void decode_half(benchmark::State& state, Encoding encoding, Weigh weigh)
{
    const int half = encoding.workers() / 2;
    decode(state, collecting(std::move(encoding), half, std::move(weigh)), 16);
}

void least_squares_of_half(benchmark::State& state)
{
    const auto encoding = regular_assignment(static_cast<int>(state.range(0)), 3, 1);
    decode_half(state, encoding, least_squares(encoding));
}
BENCHMARK(least_squares_of_half)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void graph_of_half(benchmark::State& state)
{
    const auto encoding = graph_assignment(static_cast<int>(state.range(0)), 4, 1);
    decode_half(state, encoding, graph_weights(encoding));
}
BENCHMARK(graph_of_half)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void reed_solomon_new_pattern(benchmark::State& state)
{
    decode(state, reed_solomon_code(n, n, s), fresh);
}
BENCHMARK(reed_solomon_new_pattern)->Unit(benchmark::kMicrosecond);

}  // namespace
