// SPDX-License-Identifier: BSD-2-Clause
// Whole rounds over MPI: starts a run of 30 workers and takes the time of its rounds from the trace.
// No delay is injected, so this is the cost of messages, gradients and updates. Reported: the mean
// time of a round, iterates kept. Needs QUORATE and LAUNCHER, as `make bench` sets them.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "data/data_set_writer.hpp"
#include "data/first_use.hpp"
#include "one_hot.hpp"
#include "trace/reader.hpp"

namespace {

using namespace quorate;

std::string file(const std::string& name)
{
    return std::filesystem::temp_directory_path() /
           ("quorate-bench-" + std::to_string(getpid()) + "-" + name);
}

// The one-hot data as a data set, its columns numbered as import would.
const std::string& data_set()
{
    static const std::string path = [] {
        const bench::OneHot data;
        const auto made = file("data.h5");
        DataSetWriter writer(made, "one-hot", {.columns = bench::columns}, true, false);
        writer.begin(Split::train);
        FirstUse number(bench::columns);
        for (std::size_t row = 0; row < bench::rows; ++row) {
            std::vector<std::pair<std::int64_t, double>> entries;
            for (auto k = data.start[row]; k < data.start[row + 1]; ++k)
                entries.emplace_back(number(data.column[static_cast<std::size_t>(k)]), 1.0);
            std::ranges::sort(entries);
            writer.add(entries, data.label[row]);
        }
        writer.begin(Split::test);
        writer.finish({}, {});
        std::atexit([] { std::filesystem::remove(file("data.h5")); });
        return made;
    }();
    return path;
}

void round_over_mpi(benchmark::State& state, const std::string& scheme)
{
    const char* program = std::getenv("QUORATE");
    const char* launcher = std::getenv("LAUNCHER");
    if (!program || !launcher) {
        state.SkipWithError("set QUORATE and LAUNCHER, or use make bench");
        return;
    }
    const auto trace = file("trace.h5");
    const auto command = std::string(launcher) + " -n 31 " + program + " run --quiet --data " +
                         data_set() + " --trace " + trace + " --overwrite" +
                         " --optimizer agd-eh --rounds 100 --scheme " + scheme;
    for (auto _ : state) {
        if (std::system(command.c_str()) != 0) {
            state.SkipWithError("the run failed");
            break;
        }
        const auto rounds = trace::read(trace).rounds;
        state.SetIterationTime(rounds.back().time / static_cast<double>(rounds.size()));
        state.counters["bytes_a_round"] =
            static_cast<double>(rounds.back().bytes_sent + rounds.back().bytes_received);
    }
    std::filesystem::remove(trace);
}
BENCHMARK_CAPTURE(round_over_mpi, uncoded, "uncoded")
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(round_over_mpi, frc, "frc --stragglers 2")
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(round_over_mpi, agc, "agc --stragglers 2 --collect 15")
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
