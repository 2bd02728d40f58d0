// SPDX-License-Identifier: BSD-2-Clause
// The gradient kernel against PETSc's two products on the same matrix and a plain loop, on dense
// rows against BLAS, and what the coordinator does with a contribution. Counter: bytes a second
// against the memory's. The matrix is one-hot like the Amazon data: 26,215 rows of 44 ones in
// 241,915 columns.
#include <benchmark/benchmark.h>
#include <petscmat.h>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../unit/held_fleet.hpp"
#include "aggregator/aggregator.hpp"
#include "base/parallel.hpp"
#include "data/petsc.hpp"
#include "data/support.hpp"
#include "engine/estimates.hpp"
#include "model/model.hpp"
#include "one_hot.hpp"
#include "ranks/messages.hpp"

namespace {

using namespace quorate;

using bench::columns;
using bench::OneHot;
using bench::rows;

OneHot& data()
{
    static OneHot data;
    return data;
}

void set_matrix_bytes(benchmark::State& state, std::size_t bytes_per_entry)
{
    const auto bytes =
        static_cast<std::int64_t>(data().column.size() * bytes_per_entry) + 4 * 8 * rows;
    state.SetBytesProcessed(state.iterations() * bytes);
}

std::unique_ptr<Model> model_of(const char* name, const DataShape& shape)
{
    Settings settings;
    settings.set("model", {name, "", true});
    settings.set("threshold", {"0", "", false});
    settings.set("top-k", {"5", "", false});
    return chosen(models(), settings, "model").make(settings, shape);
}

std::unique_ptr<Model> logistic() { return model_of("logistic", {}); }

// Loss and gradient of the logistic model in one pass.
void gradient(benchmark::State& state)
{
    const bool ones = state.range(0) != 0;
    const auto model = logistic();
    std::vector<double> w(columns, 0.01), g(columns);
    for (auto _ : state) benchmark::DoNotOptimize(model->add_gradient(data().view(ones), w, 1, g));
    set_matrix_bytes(state, ones ? sizeof(Index) : sizeof(Index) + sizeof(double));
}
BENCHMARK(gradient)->ArgName("ones")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

// The rival of one page: the gradient without the loss, row by row, as one would write it.
template <bool ones>
void add_gradient_plainly(const RowView& x, const double* w, double* gradient)
{
    const auto value = [&x](auto k) { return ones ? 1 : x.value[k]; };
    for (std::int64_t i = 0; i < x.rows; ++i) {
        double z = 0;
        for (auto k = x.start[i]; k < x.start[i + 1]; ++k) z += value(k) * w[x.column[k]];
        const double r = -x.label[i] / (1 + std::exp(x.label[i] * z));
        for (auto k = x.start[i]; k < x.start[i + 1]; ++k) gradient[x.column[k]] += r * value(k);
    }
}

template <bool ones>
void plain_loop(benchmark::State& state)
{
    std::vector<double> w(columns, 0.01), g(columns);
    for (auto _ : state) {
        add_gradient_plainly<ones>(data().view(ones), w.data(), g.data());
        benchmark::ClobberMemory();
    }
    set_matrix_bytes(state, ones ? sizeof(Index) : sizeof(Index) + sizeof(double));
}
BENCHMARK(plain_loop<true>)->Name("plain_loop/ones:1")->Unit(benchmark::kMillisecond);
BENCHMARK(plain_loop<false>)->Name("plain_loop/ones:0")->Unit(benchmark::kMillisecond);

// The two products alone, without loss or weights.
void run_products(benchmark::State& state, const petsc::Matrix& matrix)
{
    petsc::Vector w, z, g;
    petsc::check(MatCreateVecs(matrix.get(), w.made(), z.made()), "MatCreateVecs");
    petsc::check(VecDuplicate(w.get(), g.made()), "VecDuplicate");
    petsc::check(VecSet(w.get(), 0.01), "VecSet");
    for (auto _ : state) {
        petsc::check(MatMult(matrix.get(), w.get(), z.get()), "MatMult");
        petsc::check(MatMultTranspose(matrix.get(), z.get(), g.get()), "MatMultTranspose");
    }
}

// The rival.
void petsc_products(benchmark::State& state)
{
    petsc::Matrix matrix;
    petsc::check(
        MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, rows, columns, data().start.data(),
                                  data().column.data(), data().value.data(), matrix.made()),
        "MatCreateSeqAIJWithArrays");
    run_products(state, matrix);
    set_matrix_bytes(state, 2 * (sizeof(Index) + sizeof(double)));
}
BENCHMARK(petsc_products)->Unit(benchmark::kMillisecond);

// One worker's shard: 1/30 of the rows, over the columns that they touch.
struct ShardData {
    std::vector<Index> start, column;
    std::vector<double> value, label;
    Index columns = 0;

    ShardData()
    {
        const auto& all = data();
        constexpr std::size_t shard_rows = rows / 30;
        start.assign(all.start.begin(), all.start.begin() + shard_rows + 1);
        label.assign(all.label.begin(), all.label.begin() + shard_rows);
        std::vector<Index> number(bench::columns, -1);
        for (Index k = 0; k < start.back(); ++k) {
            auto& to = number[static_cast<std::size_t>(all.column[static_cast<std::size_t>(k)])];
            if (to < 0) to = columns++;  // by first use, as import numbers them
            column.push_back(to);
        }
        for (std::size_t i = 0; i < shard_rows; ++i)
            std::sort(column.begin() + start[i], column.begin() + start[i + 1]);
        value.assign(column.size(), 1.0);
    }
    RowView view() const
    {
        return {.rows = rows / 30,
                .columns = columns,
                .start = start.data(),
                .column = column.data(),
                .label = label.data()};
    }
};

void gradient_shard(benchmark::State& state)
{
    const ShardData shard;
    const auto model = logistic();
    std::vector<double> w(static_cast<std::size_t>(shard.columns), 0.01), g(w.size());
    for (auto _ : state) benchmark::DoNotOptimize(model->add_gradient(shard.view(), w, 1, g));
}
BENCHMARK(gradient_shard)->Unit(benchmark::kMicrosecond);

void plain_loop_shard(benchmark::State& state)
{
    const ShardData shard;
    std::vector<double> w(static_cast<std::size_t>(shard.columns), 0.01), g(w.size());
    for (auto _ : state) {
        add_gradient_plainly<true>(shard.view(), w.data(), g.data());
        benchmark::ClobberMemory();
    }
}
BENCHMARK(plain_loop_shard)->Unit(benchmark::kMicrosecond);

void petsc_products_shard(benchmark::State& state)
{
    ShardData shard;
    petsc::Matrix matrix;
    petsc::check(
        MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, rows / 30, shard.columns, shard.start.data(),
                                  shard.column.data(), shard.value.data(), matrix.made()),
        "MatCreateSeqAIJWithArrays");
    run_products(state, matrix);
}
BENCHMARK(petsc_products_shard)->Unit(benchmark::kMicrosecond);

// Dense rows of MNIST's width, a worker's share of them; one score (logistic) or ten (softmax).
struct DenseData {
    static constexpr std::int64_t rows = 2000, columns = 784;
    std::vector<double> x, label;

    explicit DenseData(std::int64_t width)
    {
        Stream stream(1, Purpose::generated_data);
        for (std::int64_t i = 0; i < rows * columns; ++i) x.push_back(stream.uniform());
        for (std::int64_t i = 0; i < rows; ++i)
            label.push_back(width == 1 ? (i % 2 ? 1.0 : -1.0) : static_cast<double>(i % width));
    }
    RowView view() const
    {
        return {.rows = rows, .columns = columns, .dense = x.data(), .label = label.data()};
    }
};

void gradient_dense(benchmark::State& state)
{
    const auto width = state.range(0);
    const DenseData dense(width);
    const auto model =
        width == 1 ? logistic()
                   : model_of("softmax", {.task = LearningTask::multiclass, .classes = width});
    std::vector<double> w(static_cast<std::size_t>(DenseData::columns * width), 1e-4), g(w.size());
    for (auto _ : state) benchmark::DoNotOptimize(model->add_gradient(dense.view(), w, 1, g));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(dense.x.size() * 8));
}
BENCHMARK(gradient_dense)->ArgName("width")->Arg(1)->Arg(10)->Unit(benchmark::kMicrosecond);

// The rival: the two products alone, by PETSc's dense matrices, which call BLAS. They are stored by
// columns, so all of ours stand transposed there.
void blas_products(benchmark::State& state)
{
    const auto width = static_cast<Index>(state.range(0));
    constexpr Index m = DenseData::rows, n = DenseData::columns;
    DenseData dense(width);
    petsc::Matrix x, w, z, g;
    const auto make = [](Index size, Index count, double* from, petsc::Matrix& matrix) {
        petsc::check(MatCreateSeqDense(PETSC_COMM_SELF, size, count, from, matrix.made()),
                     "MatCreateSeqDense");
    };
    make(n, m, dense.x.data(), x);
    make(width, n, nullptr, w);
    make(width, m, nullptr, z);
    make(width, n, nullptr, g);
    petsc::Vector point, scores, gradient;
    petsc::check(MatCreateVecs(x.get(), scores.made(), point.made()), "MatCreateVecs");
    petsc::check(VecDuplicate(point.get(), gradient.made()), "VecDuplicate");
    petsc::check(VecSet(point.get(), 1e-4), "VecSet");
    auto z_ = z.get(), g_ = g.get();
    for (auto _ : state)
        if (width == 1) {
            petsc::check(MatMultTranspose(x.get(), point.get(), scores.get()), "MatMultTranspose");
            petsc::check(MatMult(x.get(), scores.get(), gradient.get()), "MatMult");
        } else {
            petsc::check(MatMatMult(w.get(), x.get(), MAT_REUSE_MATRIX, 1, &z_), "MatMatMult");
            petsc::check(MatMatTransposeMult(z.get(), x.get(), MAT_REUSE_MATRIX, 1, &g_),
                         "MatMatTransposeMult");
        }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(dense.x.size() * 8));
}
BENCHMARK(blas_products)->ArgName("width")->Arg(1)->Arg(10)->Unit(benchmark::kMicrosecond);

// The physical bound: reading the kernel's bytes, the column numbers, once.
void read_columns(benchmark::State& state)
{
    std::vector<Index> copy(data().column.size());
    for (auto _ : state) {
        std::memcpy(copy.data(), data().column.data(), copy.size() * sizeof(Index));
        benchmark::ClobberMemory();
    }
    set_matrix_bytes(state, sizeof(Index));
}
BENCHMARK(read_columns)->Unit(benchmark::kMillisecond);

// One worker's columns: those of its 1/30 of the rows.
Support support()
{
    std::vector<Index> used(data().column.begin(), data().column.begin() + data().start[rows / 30]);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return Support::of(columns, std::move(used));
}

// Encode: a task message for one worker. @counter elements a second
void encode_task(benchmark::State& state)
{
    const auto columns_held = support();
    const Point point = std::make_shared<NumberVector>(std::vector<double>(columns, 1.0));
    TaskMessage message;
    message.recipients = {{0, 0}};
    message.plan = Plan{{Part{{Item{0}}}}, false};
    message.inputs = {{0, TaskMessage::Travel::packed}};
    transport::Pool pool;
    for (auto _ : state)
        benchmark::DoNotOptimize(
            encode(message, std::span(&point, 1), columns_held, Wire::binary64, pool));
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(columns_held.size()));
}
BENCHMARK(encode_task)->Unit(benchmark::kMicrosecond);

// Decode: adding one contribution to the estimate.
void add_contribution(benchmark::State& state)
{
    const auto columns_held = support();
    std::vector<double> packed(columns_held.size(), 1.0), estimate(columns);
    for (auto _ : state) {
        columns_held.add(1.0, packed, estimate);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(columns_held.size()));
}
BENCHMARK(add_contribution)->Unit(benchmark::kMicrosecond);

// 30 contributions of a million numbers, at all parameters.
constexpr std::size_t addends = 30, dense_size = 1'000'000;

void set_dense_numbers(benchmark::State& state, std::size_t bytes_per_number)
{
    const auto numbers = static_cast<std::int64_t>(addends * dense_size);
    state.SetItemsProcessed(state.iterations() * numbers);
    state.SetBytesProcessed(state.iterations() * numbers *
                            static_cast<std::int64_t>(bytes_per_number));
}

// The estimate of a step: their sum, mean and norm. @counter numbers of contributions a second
template <class T>
void dense_sum(benchmark::State& state)
{
    const std::vector<T> numbers(dense_size, T(0.5)), model(dense_size);
    test::HeldFleet fleet;
    for (std::size_t i = 0; i < addends; ++i)
        fleet.add(Support::all(dense_size), NumberVector(ConstNumbers(numbers)));
    std::vector<Summand> terms;
    for (std::size_t i = 0; i < addends; ++i) terms.push_back({&fleet.arrival(i), 1});
    const Points points;
    const Needs needs;
    ComputedEstimates estimates({.threads = static_cast<int>(state.range(0))}, needs, points,
                                ConstNumbers(model));
    const Step step{{}, addends, 0};
    trace::Round row{};
    for (auto _ : state) estimates.form(needs, fleet, step, {}, terms, nullptr, row);
    benchmark::DoNotOptimize(row.gradient_norm);
    set_dense_numbers(state, sizeof(T));
}
BENCHMARK(dense_sum<double>)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(dense_sum<float>)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

// What stands in place of the sum where two workers may lie: a rule, or for `draco` the
// fingerprints of all, and the sum of a fifth. Its time over that of dense_sum is what it costs.
void dense_robust(benchmark::State& state, const AggregatorChoice* choice,
                  const PreAggregation& before)
{
    test::HeldFleet fleet;
    Stream random(1, Purpose::generated_data);
    for (std::size_t i = 0; i < addends; ++i) {
        std::vector<double> numbers(dense_size);
        for (auto& one : numbers) one = random.uniform();
        fleet.add(Support::all(dense_size), NumberVector(ConstNumbers(numbers)));
    }
    Needs needs;
    needs.tolerated = 2;
    needs.fingerprint = choice == nullptr;
    if (choice) needs.aggregator = robust_rule(choice->rule, before);
    std::vector<Summand> terms;
    for (std::size_t i = 0; i < addends; i += choice ? 1 : 5)
        terms.push_back({&fleet.arrival(i), 1});
    const Points points;
    const std::vector<double> model(dense_size);
    ComputedEstimates estimates({.threads = static_cast<int>(state.range(0))}, needs, points,
                                ConstNumbers(model));
    const Step step{{}, static_cast<double>(terms.size()), 0};
    trace::Round row{};
    for (auto _ : state) {
        for (std::size_t i = 0; needs.fingerprint && i < addends; ++i)
            benchmark::DoNotOptimize(estimates.measure(needs, fleet, fleet.arrival(i), 0));
        estimates.form(needs, fleet, step, {}, terms, nullptr, row);
    }
    benchmark::DoNotOptimize(row.gradient_norm);
    set_dense_numbers(state, sizeof(double));
}

// Of each rule, and of the median after each kind of pre-aggregation.
void add_robust_benchmarks()
{
    static const std::vector<AggregatorChoice> rules = {
        MedianAggregator{}, TrimmedMeanAggregator{}, GeometricMedianAggregator{},
        KrumAggregator{},   MultiKrumAggregator{},   CentredClippingAggregator{1}};
    const auto add = [](const std::string& name, const AggregatorChoice* rule,
                        const PreAggregation& before = {}) {
        benchmark::RegisterBenchmark(
            ("dense_robust/" + name).c_str(),
            [=](benchmark::State& state) { dense_robust(state, rule, before); })
            ->ArgName("threads")
            ->Arg(1)
            ->Arg(2)
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
    };
    add("draco", nullptr);
    for (const auto& rule : rules) add(rule.words, &rule);
    add("nnm", &rules[0], {PreAggregation::neighbours});
    add("bucketing", &rules[0], {PreAggregation::buckets, 2});
}

// Its bound: reading these numbers once.
template <class T>
void read_dense(benchmark::State& state)
{
    const std::vector<std::vector<T>> all(addends, std::vector<T>(dense_size, T(0.5)));
    std::vector<T> sums(addends);
    for (auto _ : state) {
        in_parallel(addends, static_cast<int>(state.range(0)), [&](std::size_t i) {
            sums[i] = Eigen::Map<const Eigen::ArrayX<T>>(all[i].data(), dense_size).sum();
        });
        benchmark::ClobberMemory();
    }
    set_dense_numbers(state, sizeof(T));
}
BENCHMARK(read_dense<double>)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(read_dense<float>)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

}  // namespace

int main(int argc, char** argv)
{
    PetscInitializeNoArguments();
    add_robust_benchmarks();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    PetscFinalize();
}
