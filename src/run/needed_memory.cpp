// SPDX-License-Identifier: BSD-2-Clause
#include "run/needed_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "engine/sum_table.hpp"
#include "run/training.hpp"

namespace quorate {

namespace {

// The training rows that a worker stores at most.
std::int64_t most_rows(const Needs& needs)
{
    std::int64_t rows = 0;
    for (Worker worker = 0; worker < std::ssize(needs.shard); ++worker)
        rows = std::max(rows, rows_of(needs, worker));
    return rows;
}

// Vectors of all parameters that the coordinator holds with the smallest optimiser, gd: its model,
// the engine's and the gradient, a point, and what the trace is about to write. A worker holds a
// point, its contribution and what it adds up. Both were measured with 2e7 parameters, and other
// optimisers and codes take more.
constexpr std::int64_t of_coordinator = 7, of_worker = 4;
// Of the owner of a share: vectors of all parameters, which are a point and the sum of its host,
// and those of its share, which are the coordinator's above. Measured with 1e8 parameters on 2
// and 4 hosts.
constexpr std::int64_t of_owner = 2, of_share = of_coordinator;
// Bytes of a simulated worker with data, beside its rows; measured with 100,000.
constexpr double of_simulated_worker = 13'000;

// Bytes that ranks take at least.
struct Least {
    double coordinator, worker;
    double owner;  // of a share, beside what a worker takes
};

// @param shares  of the parameters; 1: they are not shared out
Least least_of(const Training& training, std::size_t shares = 1)
{
    const auto& needs = training.coding->needs;
    const auto per_row = training.data->shape().entries_per_row;
    const auto touched = training.model->linear()
                             ? static_cast<double>(training.model->outputs()) * (per_row + 1)
                             : 0;
    const auto share = static_cast<double>(most_rows(needs)) / static_cast<double>(training.rows);
    const auto bytes = [&](std::int64_t vectors, std::int64_t rows, double entries) {
        return bytes_of_kept(vectors, training.width(), rows, entries, training.precision());
    };
    Least least{
        bytes(of_coordinator, 0, 0),
        share * training.data->training_bytes() + bytes(of_worker, most_rows(needs), touched), 0};
    if (shares == 1) return least;
    least.owner = bytes(1, 0, 0) * vectors_of_owner(static_cast<std::int64_t>(shares));
    // Models are scored whole.
    if (training.engine.evaluate_every == 0) least.coordinator = least.owner;
    return least;
}

// What ranks take at least, in words.
std::string words_of(const Least& least)
{
    const auto worker = fmt::format("each worker {}", size_text(least.worker));
    if (least.owner == least.coordinator)
        return fmt::format("each owner of a share takes {} and {}", size_text(least.owner), worker);
    const auto coordinator = fmt::format("the coordinator takes {}", size_text(least.coordinator));
    if (least.owner == 0) return fmt::format("{} and {}", coordinator, worker);
    return fmt::format("{}, to score models, each other owner of a share {}, and {}", coordinator,
                       size_text(least.owner), worker);
}

}  // namespace

void check_memory(const Training& training, const std::vector<RankMemory>& ranks)
{
    struct Host {
        double free = 0;
        int workers = 0;
    };
    std::map<std::string, Host> hosts;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        auto& host = hosts[ranks[rank].host];
        host.free = std::max(host.free, static_cast<double>(ranks[rank].free));
        host.workers += rank > 0 && rank <= static_cast<std::size_t>(training.here);
    }
    const auto& here = ranks.at(0).host;
    const auto has_share = [&](const auto& host) {
        return host.first == here || host.second.workers > 0;
    };
    const bool shares = training.settings.text("aggregate") == "shares";
    const auto least = least_of(
        training, shares ? static_cast<std::size_t>(std::ranges::count_if(hosts, has_share)) : 1);
    const auto needed_by = [&](const auto& host) {
        const auto workers = host.second.workers * least.worker;
        return workers + (host.first == here ? least.coordinator
                          : has_share(host)  ? least.owner
                                             : 0);
    };
    const auto each = words_of(least);
    bool much = false;
    for (const auto& host : hosts) {
        const auto needed = needed_by(host), free = host.second.free;
        if (needed > free)
            throw BadInput(fmt::format(
                "{} has {} of free memory, and the run takes {} there at least ({}): ask for more "
                "memory, or spread the ranks over more hosts",
                host.first, size_text(free), size_text(needed), each));
        much = much || 10 * needed > free;
    }
    if (much) log(LogLevel::note, "memory: " + each + ", at least");
}

double vectors_of_owner(std::int64_t shares)
{
    return of_owner + static_cast<double>(of_share) / static_cast<double>(shares);
}

void check_memory_of_simulation(const Training& training)
{
    if (!training.data) return;
    need_memory(least_of(training).coordinator + training.data->training_bytes() +
                    of_simulated_worker * training.workers,
                "the simulation");
}

double bytes_of_kept(std::int64_t contributions, std::int64_t parameters, std::int64_t rows,
                     double entries_per_row, Precision precision)
{
    // A contribution is a vector at the support of its worker's rows, which is no larger than these
    // have entries; of networks it is taken to be all parameters.
    const auto entries = static_cast<double>(rows) * entries_per_row;
    const auto all = static_cast<double>(parameters);
    const auto each = entries_per_row > 0 ? std::min(all, entries) : all;
    return static_cast<double>(contributions) * each * static_cast<double>(bytes_of(precision));
}

double bytes_of_sums(std::int64_t slots, std::int64_t parameters, Precision precision)
{
    return static_cast<double>(SumTable::nodes(slots)) * static_cast<double>(parameters) *
           static_cast<double>(bytes_of(precision));
}

double bytes_of_kept(const Training& training)
{
    const auto& needs = training.coding->needs;
    if (needs.kept == 0) return 0;
    const auto parameters = training.model ? training.width() : training.columns;
    const auto precision = training.precision();
    const auto beside = bytes_of_sums(needs.slots, parameters, precision) +
                        bytes_of_kept(needs.points_of_kept(), parameters, 0, 0, precision);
    if (!training.model || !training.model->linear())
        return beside + bytes_of_kept(needs.kept, parameters, 0, 0, precision);
    const auto outputs = static_cast<double>(training.model->outputs());
    return beside + bytes_of_kept(needs.kept, parameters, most_rows(needs),
                                  outputs * (training.data->shape().entries_per_row + 1),
                                  precision);
}

void check_kept(const Training& training)
{
    if (!training.model) return;
    const auto bytes = bytes_of_kept(training);
    const auto there = static_cast<double>(free_memory());
    if (bytes <= there) return;
    training.settings.refuse(
        "scheme", fmt::format(", which keeps {} contributions, {:.3g} GB at most with the points "
                              "that they hold, and there are "
                              "{:.3g} GB of memory: let it keep fewer (quorate list schemes), "
                              "start fewer workers, or ask for more memory",
                              training.coding->needs.kept, 1e-9 * bytes, 1e-9 * there));
}

}  // namespace quorate
