// SPDX-License-Identifier: BSD-2-Clause
// Whole rounds over MPI: starts a run of 30 workers and takes the time of its rounds from the
// trace. No delay is injected, so this is the cost of messages, gradients and updates. Reported:
// the mean time of a round, iterates kept. Needs QUORATE and LAUNCHER, as `make bench` sets them.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "one_hot_file.hpp"
#include "trace/reader.hpp"

namespace {

using namespace quorate;

std::string file(const std::string& name)
{
    return std::filesystem::temp_directory_path() /
           ("quorate-bench-" + std::to_string(getpid()) + "-" + name);
}

const std::string& data_set()
{
    static const std::string path = [] {
        const auto made = file("data.h5");
        bench::write(bench::OneHot(), made);
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
