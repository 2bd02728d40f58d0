// SPDX-License-Identifier: BSD-2-Clause
#include "run/least_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "run/kept_contributions.hpp"
#include "run/training.hpp"

namespace quorate {

namespace {

// Vectors of all parameters that the coordinator holds with the smallest optimiser, gd: its model,
// the engine's and the gradient, a point, and what the trace is about to write. A worker holds a
// point, its contribution and what it adds up. Both were measured with 2e7 parameters, and other
// optimisers and codes take more.
constexpr std::int64_t of_coordinator = 7, of_worker = 4;
// Bytes of a simulated worker with data, beside its rows; measured with 100,000.
constexpr double of_simulated_worker = 13'000;

// Bytes that ranks take at least.
struct Least {
    double coordinator, worker;
};

Least least_of(const Training& training)
{
    const auto& needs = training.coding->needs;
    std::int64_t rows = 0;
    for (Worker worker = 0; worker < std::ssize(needs.shard); ++worker)
        rows = std::max(rows, rows_of(needs, worker));
    const auto entries = training.data->shape().entries_per_row;
    const auto touched = training.model->linear()
                             ? static_cast<double>(training.model->outputs()) * (entries + 1)
                             : 0;
    const auto share = static_cast<double>(rows) / static_cast<double>(training.rows);
    return {bytes_of_kept(of_coordinator, training.width(), 0, 0),
            share * training.data->training_bytes() +
                bytes_of_kept(of_worker, training.width(), rows, touched)};
}

}  // namespace

void check_memory(const Training& training, const std::vector<RankMemory>& ranks)
{
    const auto least = least_of(training);
    struct Host {
        double needed = 0, free = 0;
    };
    std::map<std::string, Host> hosts;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        auto& host = hosts[ranks[rank].host];
        const bool works = rank > 0 && rank <= static_cast<std::size_t>(training.here);
        host.needed += rank == 0 ? least.coordinator : works ? least.worker : 0;
        host.free = std::max(host.free, static_cast<double>(ranks[rank].free));
    }
    const auto each = fmt::format("the coordinator takes {} and each worker {}",
                                  size_text(least.coordinator), size_text(least.worker));
    bool much = false;
    for (const auto& [name, host] : hosts) {
        if (host.needed > host.free)
            throw BadInput(fmt::format(
                "{} has {} of free memory, and the run takes {} there at least ({}): ask for more "
                "memory, or spread the ranks over more hosts",
                name, size_text(host.free), size_text(host.needed), each));
        much = much || 10 * host.needed > host.free;
    }
    if (much) log(LogLevel::note, "memory: " + each + ", at least");
}

void check_memory_of_simulation(const Training& training)
{
    if (!training.data) return;
    need_memory(least_of(training).coordinator + training.data->training_bytes() +
                    of_simulated_worker * training.workers,
                "the simulation");
}

}  // namespace quorate
