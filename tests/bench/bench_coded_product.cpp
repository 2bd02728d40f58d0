// SPDX-License-Identifier: BSD-2-Clause
// Coded matrix-vector products, one after the other on one core: what the workers compute, and what
// the coordinator's decoding adds. The rival is the plain product.
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <numeric>

#include "code/storage_code.hpp"

namespace {

using namespace quorate;

constexpr int rows = 4000, columns = 1000, machines = 20, needed = 10;

void plain_product(benchmark::State& state)
{
    const Eigen::MatrixXd a = Eigen::MatrixXd::Random(rows, columns);
    const Eigen::VectorXd x = Eigen::VectorXd::Random(columns);
    Eigen::VectorXd y(rows);
    for (auto _ : state) {
        y.noalias() = a * x;
        benchmark::DoNotOptimize(y.data());
    }
}
BENCHMARK(plain_product)->Unit(benchmark::kMicrosecond);

// The last ten of twenty machines answer: none of them is one that needs no decoding.
void decoding_a_coded_product(benchmark::State& state)
{
    const StorageCode code(Generator::haar, machines, needed, 1);
    std::vector<int> answered(needed);
    std::iota(answered.begin(), answered.end(), machines - needed);
    const Eigen::MatrixXd answers = Eigen::MatrixXd::Random(rows / needed, needed);
    Eigen::MatrixXd y(rows / needed, needed);
    for (auto _ : state) {
        y.noalias() = answers * code.decoding(answered).inverse.transpose();
        benchmark::DoNotOptimize(y.data());
    }
}
BENCHMARK(decoding_a_coded_product)->Unit(benchmark::kMicrosecond);

}  // namespace
