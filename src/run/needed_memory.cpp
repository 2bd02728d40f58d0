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

// The points that an engine has in any case: the newest one, and the next. They lie in shared
// memory, if there are workers to read them there. An owner of a share has them whole, for its
// host.
constexpr std::int64_t points = 2;
// Vectors that a worker holds at what its rows touch: a point, its contribution and what it adds
// up.
constexpr std::int64_t of_worker = 4;
// A kept model that waits to be written; the owner of a share also makes a message of it.
constexpr std::int64_t kept_by_coordinator = 1, kept_by_owner = 2;
// States in memory that are kept of the own part, and with those of another owner's.
constexpr std::int64_t states_kept = 2, states_kept_by_owner = 4;
// Bytes of a simulated worker with data, beside its rows; measured with 100,000.
constexpr double of_simulated_worker = 13'000;

// Bytes that ranks take at least.
struct Least {
    double coordinator, worker;
    double owner;  // of a share, beside what a worker takes
};

// The vectors that an engine and its optimiser hold beside points: the gradient, the model and what
// else the rule remembers.
std::int64_t vectors_held(const Training& training)
{
    const auto& entry = chosen(optimizers(), training.settings, "optimizer");
    if (!entry.properties.shares) return 2;  // it may not be made without parameters
    const auto optimizer = entry.make(training.settings, {}, training.regularizer);
    std::int64_t vectors = 1;
    for (std::size_t i = 0; i < optimizer->memory().size(); ++i)
        vectors += optimizer->is_sliced(i) ? 1 : 0;
    return vectors;
}

// Measured with 1e7 and 1e8 parameters on 4 hosts. Codes and stragglers take more.
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
    const auto vectors = vectors_held(training);
    const bool keeps = training.engine.evaluate_every > 0;
    // A state in memory has a point and what the optimiser remembers.
    const auto& settings = training.settings;
    const bool in_memory =
        settings.has("memory-checkpoint-every") && settings.on("memory-checkpoint-every");
    const auto of_state = in_memory ? vectors : 0;
    Least least{
        bytes(points + vectors + states_kept * of_state + (keeps ? kept_by_coordinator : 0), 0, 0),
        share * training.data->training_bytes() + bytes(of_worker, most_rows(needs), touched), 0};
    if (shares == 1) return least;
    least.owner =
        bytes(points, 0, 0) +
        bytes(vectors + states_kept_by_owner * of_state + (keeps ? kept_by_owner : 0), 0, 0) /
            static_cast<double>(shares);
    // Models are scored whole.
    if (!keeps) least.coordinator = least.owner;
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
