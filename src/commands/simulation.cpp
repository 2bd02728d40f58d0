// SPDX-License-Identifier: BSD-2-Clause
#include "commands/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "commands/options.hpp"
#include "commands/run_folder.hpp"
#include "commands/traced_run.hpp"
#include "compute/evaluation.hpp"
#include "fleet/replay_fleet.hpp"
#include "fleet/virtual_fleet.hpp"
#include "parts/plugins.hpp"
#include "process/session.hpp"
#include "process/stop.hpp"
#include "ranks/rank_placement.hpp"
#include "run/aggregation.hpp"
#include "run/needed_memory.hpp"
#include "run/recorded.hpp"
#include "run/same_data.hpp"
#include "trace/memory.hpp"

namespace quorate {

Settings with_options_of(const trace::Trace& trace, Settings settings)
{
    const auto path = settings.text("replay");
    const auto refuse = [&](const char* name) {
        if (settings.given(name))
            settings.refuse(name,
                            ", but --replay takes times and workers from its trace: leave "
                            "out one of the two");
    };
    for (const auto& one : delay_options) refuse(one.name);
    for (const auto* name : {"workers", "row-time", "load-slope", "dry", "latency", "bandwidth",
                             "port", "memory-bandwidth", "nodes", "aggregate", "events", "standby",
                             "load-time", "checkpoint", "resume"})
        refuse(name);
    if (trace.listed() != "all")
        settings.refuse("replay",
                        ", which does not list all contributions: give a trace of "
                        "--trace-arrivals all");
    check_same_plugins(path, trace.text("plugins"));
    settings = with_recorded(trace, path, options_of_runs(), std::move(settings));
    // The events of the run are not needed: the trace holds the changes of membership that came of
    // them. Nor is a checkpoint: a replay that was interrupted is soon repeated.
    for (const auto* name : {"events", "checkpoint", "resume"})
        settings.set(name, {"", path + ": ", false});
    settings.set("workers", {std::to_string(trace.first_workers()), path + ": ", true});
    return settings;
}

namespace {

// Refuses more simulated workers than there is memory for. The bytes of a worker do not depend on
// the scheme: they were measured with uncoded, frc and agc. @throws BadInput
void check_memory(const Settings& settings, std::int64_t workers)
{
    constexpr std::int64_t of_a_worker = 2500;
    const auto there = host_memory();
    if (workers > there / of_a_worker)
        settings.refuse("workers",
                        fmt::format(", whose simulation would take {:.0f} GB of memory, and there "
                                    "are {:.0f}: use at most {}",
                                    1e-9 * of_a_worker * static_cast<double>(workers),
                                    1e-9 * static_cast<double>(there), there / of_a_worker));
}

// Returns the size of a dry run; nothing if the run has data.
// @throws BadInput if options contradict that
std::optional<DrySize> dry_size(const Settings& settings)
{
    if (!settings.on("dry")) {
        for (const auto* name : {"rows", "columns"})
            if (settings.given(name))
                settings.refuse(name, ", but the data set says it: leave it out, or add --dry");
        if (!settings.on("data"))
            throw BadInput(
                "quorate simulate needs --data FILE, or --dry to simulate times without data");
        return {};
    }
    for (const auto* name : options_of_data)
        if (settings.given(name))
            settings.refuse(name, ", but a dry run computes nothing: leave out one of the two");
    if (const auto& at = settings.text("stop-at");
        (!at.empty() && at != "none") || settings.integer("patience", 0) > 0)
        settings.refuse(at.empty() || at == "none" ? "patience" : "stop-at",
                        ", but a dry run has no losses: leave out one of the two");
    const auto workers = settings.integer("workers", 1, std::numeric_limits<int>::max());
    check_memory(settings, workers);
    return DrySize{settings.on("rows") ? settings.integer("rows", 1) : 1000 * workers,
                   settings.on("columns") ? settings.integer("columns", 0) : 0};
}

Network network_of(const Settings& settings)
{
    Network network;
    network.latency = settings.seconds("latency");
    if (settings.on("bandwidth"))
        network.bandwidth = settings.real("bandwidth", std::numeric_limits<double>::min());
    if (settings.on("memory-bandwidth"))
        network.memory_bandwidth =
            settings.real("memory-bandwidth", std::numeric_limits<double>::min());
    else if (settings.on("bandwidth"))
        network.memory_bandwidth = usual_memory_bandwidth;
    network.shared_port = settings.one_of("port", {"shared", "separate"}) == "shared";
    return network;
}

// Returns where the workers are: as over MPI on hosts with equally many ranks, or one more on the
// first ones, beside a coordinator on the first host. Empty: all are on one node.
// @throws BadInput if there are more nodes than workers
std::vector<VirtualPlace> places_of(const Settings& settings, int workers)
{
    const auto nodes =
        static_cast<int>(settings.integer("nodes", 1, std::numeric_limits<int>::max()));
    if (nodes > workers)
        settings.refuse("nodes", fmt::format(", but there are {} workers for them: use at most {}",
                                             workers, workers));
    std::vector<VirtualPlace> places;
    if (nodes == 1) return places;
    std::vector<std::string> hosts;  // of ranks
    for (int i = 0; i < nodes; ++i)
        hosts.insert(hosts.end(), static_cast<std::size_t>((workers + nodes - 1 - i) / nodes),
                     fmt::format("node{}", i));
    std::ranges::transform(place_ranks(hosts), std::back_inserter(places), [&](int rank) {
        return VirtualPlace{rank, hosts[static_cast<std::size_t>(rank - 1)]};
    });
    return places;
}

// What a simulation consists of. Neither copied nor moved, because its parts refer to each other.
class Simulated {
public:
    explicit Simulated(const Settings& given)
    {
        if (given.on("replay")) recorded_ = trace::read(trace_in(given.text("replay")));
        settings_ = recorded_ ? with_options_of(*recorded_, given) : given;
        if (!settings_.on("workers"))
            throw BadInput("quorate simulate needs --workers N, how many to simulate");
        size_ = dry_size(settings_);
        if (!size_) start_mpi();
        training_ = build_training(settings_, 0, size_);
        if (training_->model && training_->model->streams())
            throw BadInput(
                "a simulation or replay computes what other workers have, but an IterableDataset "
                "gives a sample once: use run, or a map-style dataset");
        if (recorded_ && training_->data)
            check_same_data(*training_->data, recorded_->text(data_attribute), given.text("replay"),
                            "give its data set as --data");
        check_memory_of_simulation(*training_);
        if (recorded_) training_->last_round = std::ssize(recorded_->rounds);
        check();
        if (!recorded_) {
            places_ = places_of(settings_, training_->workers);
            network_ = network_of(settings_);
            check_aggregation(*training_);
        }
        // That of --aggregate auto is checked when it is known who adds up.
        if (recorded_ || settings_.text("aggregate") == "flat") check_kept(*training_);
        optimizers_ = begin_training(*training_);
    }
    Simulated(const Simulated&) = delete;
    Simulated& operator=(const Simulated&) = delete;

    const Settings& settings() const { return training_->settings; }
    const Training& training() const { return *training_; }
    const char* clock() const { return recorded_ ? "replayed" : "virtual"; }
    /// Has the weights of rows told of the scheme. Before run().
    void tell(RowWeights& weights)
    {
        auto& scheme = training_->coding->scheme;
        scheme = heard_by(weights, std::move(scheme));
    }
    /// Whether only delays and messages take time. Recorded times have computing in them.
    bool computing_is_free() const
    {
        return !recorded_ && training_->row_time <= 0 && settings_.text("row-delay") == "none" &&
               !settings_.text("delay").starts_with("trace:");
    }
    /// Makes the fleet, for which it reads the rows of all workers: only now the simulation takes
    /// the memory of a run. To be called once. The result refers to this object.
    /// @param resumed  what the run goes on from; null: it begins
    Run run(Resumption* resumed)
    {
        auto& training = *training_;
        if (size_) {
            recipes_.emplace(training.coding->needs, training.coding->batches, training.byzantine,
                             training.columns, training.wire, training.compression.compressor);
        } else {
            computing_.emplace(training.computing());
            recipes_.emplace(training.coding->needs, training.byzantine, *training.data,
                             *computing_);
        }
        if (recorded_)
            fleet_ =
                std::make_unique<ReplayFleet>(*recipes_, *recorded_, recorded_->workers.size());
        else
            fleet_ = virtual_fleet(resumed);
        return {training,
                *fleet_,
                optimizers_,
                [this](const auto& next, const auto& scored) {
                    evaluator(recipes_->give_up_rows()).score_all(next, scored);
                },
                resumed,
                false,
                nullptr,
                [this](const Point& model) {
                    return evaluator(recipes_->training_rows()).score_one(model);
                }};
    }

private:
    // Rows that are scored stay in memory: rules that look at scores may ask for many models.
    const Evaluator& evaluator(const std::shared_ptr<const ShardBlock>& rows)
    {
        if (!evaluator_) evaluator_.emplace(training_->scoring(), rows.get());
        return *evaluator_;
    }

    std::unique_ptr<Fleet> virtual_fleet(const Resumption* resumed)
    {
        const auto& training = *training_;
        auto fleet = std::make_unique<VirtualFleet>(
            *recipes_,
            VirtualTimes{training.stragglers.models(training.row_time), network_,
                         settings_.seconds("timeout"), settings_.seconds("load-time"),
                         training.standby, training.seed},
            places_);
        const auto [way, groups] =
            resumed ? aggregation_to_go_on_with(training, resumed->trace, fleet->workers())
                    : aggregation_of(training, fleet->workers());
        if (groups.empty())
            check_kept(training);
        else if (way == Aggregation::Way::shares)
            fleet->share(groups);
        else
            fleet->aggregate(groups);
        return fleet;
    }

    // Checks what only a simulation cannot do. @throws BadInput
    void check() const
    {
        const auto& needs = training_->coding->needs;
        if (size_ && needs.inner_product)
            settings_.refuse(
                "scheme",
                ", which with these options looks at gradients, but a dry run has none: "
                "leave out --dry");
        if (recorded_ || training_->row_time > 0) return;
        if (settings_.text("slowdown") != "none")
            settings_.refuse("slowdown", ", but computing takes no time: give --row-time too");
        if (needs.limits_time)
            settings_.refuse("row-time",
                             ", but tasks of this scheme end with their time, in which any "
                             "number of rows would be computed: give the seconds of a row");
    }

    std::optional<trace::Trace> recorded_;  // of --replay
    Settings settings_;
    std::optional<DrySize> size_;
    std::optional<Training> training_;
    Network network_;
    std::vector<VirtualPlace> places_;
    Optimizers optimizers_;
    std::optional<Computing> computing_;
    std::optional<Recipes> recipes_;
    std::optional<Evaluator> evaluator_;
    std::unique_ptr<Fleet> fleet_;
};

}  // namespace

trace::Trace simulate(const Settings& settings, const std::atomic<bool>& stop, Watch watch,
                      std::optional<RowUse>* use)
{
    refuse_files(settings);
    Simulated simulated(settings);
    std::optional<RowWeights> weights;
    if (use) simulated.tell(weights.emplace(simulated.training().coding->needs));
    auto run = simulated.run(nullptr);
    // Models that are kept may take as long to score as the rounds took.
    run.evaluate = [&stop, evaluate = run.evaluate](const auto& next, const auto& scored) {
        evaluate([&] { return stop ? std::vector<Point>() : next(); }, scored);
    };
    trace::Memory memory(header_of(simulated.settings(), run, simulated.clock()));
    train(run, memory, stop, std::move(watch));
    if (use) *use = weights->use();
    return memory.take();
}

std::vector<std::string> ways_to_add_up(const Settings& settings)
{
    const Simulated simulated(settings);
    return possible_ways(simulated.training(), static_cast<int>(settings.integer("nodes", 1)));
}

int simulate_with_trace(const Settings& given)
{
    if (std::error_code error;
        given.on("replay") && !given.on("folder") &&
        std::filesystem::equivalent(trace_in(given.text("replay")), given.text("trace"), error))
        given.refuse("trace", ", which is the trace that is replayed: give another name");
    Simulated simulated(given);
    RunFolder folder(simulated.settings());
    stop_in(seconds_to_run(folder.settings()));
    auto resumed = folder.prepare(simulated.training());
    if (resumed && resumed->completed) return exit_done;
    listen_for_signals(true);
    const auto run = simulated.run(resumed ? &*resumed : nullptr);
    if (!resumed && !given.on("replay")) note_aggregation(run.training, run.fleet);
    if (simulated.computing_is_free())
        log(LogLevel::note,
            "computing takes no time here: --row-time gives the seconds of a row, or a trace to "
            "take them from");
    return folder.ended(traced_run(folder.settings(), run, simulated.clock(), folder.owner()));
}

}  // namespace quorate
