// SPDX-License-Identifier: BSD-2-Clause
#include "driver/mpi_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "driver/aggregation.hpp"
#include "driver/kept_contributions.hpp"
#include "driver/launch.hpp"
#include "driver/plugins.hpp"
#include "driver/run_folder.hpp"
#include "driver/session.hpp"
#include "driver/stop.hpp"
#include "driver/supervisor.hpp"
#include "driver/traced_run.hpp"
#include "mpi/blocking.hpp"
#include "mpi/mpi_fleet.hpp"
#include "mpi/mpi_worker.hpp"
#include "mpi/rank_placement.hpp"
#include "trace/memory.hpp"

namespace quorate {

namespace {

// Whether a rank of its own scores models while the run goes on.
bool scores_live(const Settings& settings)
{
    return settings.one_of("evaluate", {"after", "live"}) == "live";
}

// Whether ranks of the coordinator's host read points and write contributions in shared memory.
// build() checks the word.
bool shares_memory(const Settings& settings) { return settings.text("transport") == "shared"; }

// Builds the training of a world of so many ranks, the same on all ranks. Local.
// @param began_with  workers that the run began with, if it is to go on
// @throws BadInput if there are too few ranks, or as build_training()
Training build(const Settings& settings, int ranks, const std::optional<int>& began_with)
{
    settings.one_of("transport", {"shared", "messages"});
    const int spare = scores_live(settings) ? 1 : 0;
    const auto standby = settings.integer("standby", 0, std::max(0, ranks - 2 - spare));
    auto training = build_training(
        settings, std::max(1, ranks - 1 - spare - static_cast<int>(standby)), {}, began_with);
    if (spare == 1 && training.here > ranks - 2)
        settings.refuse("evaluate", fmt::format(", but of {} ranks none is to spare beside a "
                                                "coordinator and {} workers: start {} ranks",
                                                ranks, training.here, training.here + 2));
    if (spare == 0 && training.stop_rules.scored())
        settings.refuse(
            training.stop_rules.patience > 0 ? "patience" : "stop-at",
            ", for which models are scored as the run goes on: add --evaluate live, and a "
            "rank for it");
    const auto needed = 1 + training.here + training.standby + spare;
    if (needed > ranks)
        settings.refuse(training.standby > 0 ? "standby" : "workers",
                        fmt::format(", but {} ranks make a coordinator and {} workers: start {} "
                                    "ranks{}",
                                    ranks, ranks - 1, needed,
                                    began_with ? ", or give fewer to go on with" : ""));
    check_aggregation(training);
    return training;
}

// A status of join replies: the run that is to be resumed is complete already.
constexpr int nothing_to_do = -1;

/// The coordinator's answer to the hello of a rank: whether the run takes place, and which worker
/// the rank is.
struct JoinReply {
    SharedAddress bells, points;
    std::int64_t reads;     // whether the coordinator reads the rank's contributions in place
    std::int64_t channel;   // whether it has opened the rank's channel
    std::int64_t launched;  // the coordinator's launched_process()
    // exit_done: the run takes place. Otherwise why not: nothing_to_do, or an exit status.
    std::int64_t status;
    Worker worker;       // -1: no worker; the rank is a standby rank, idle, or scores models
    int began_with;      // workers that the run began with
    std::int64_t loads;  // whether that worker loads at once what it stored in the beginning
};

/// What the ranks say of themselves. Element 0 is that of rank 1.
struct Hellos {
    std::vector<std::string> hosts, plugins;
    std::vector<SharedAddress> contributions, channels;
};

/// Waits for the hello of every other rank. On the coordinator.
Hellos receive_hellos(const mpi::Comm& comm)
{
    mpi::Pool pool;
    Hellos hellos;
    for (int rank = 1; rank < comm.size(); ++rank) {
        const auto message = mpi::receive_blocking(comm, rank, pool);
        Reader in(*message.bytes);
        hellos.contributions.push_back(in.get<SharedAddress>());
        hellos.channels.push_back(in.get<SharedAddress>());
        const auto rest = in.rest();
        const std::string text(reinterpret_cast<const char*>(rest.data()), rest.size());
        const auto end = text.find('\n');
        hellos.hosts.push_back(text.substr(0, end));
        hellos.plugins.push_back(text.substr(end + 1));
    }
    return hellos;
}

/// Tells the coordinator what this rank says of itself: where it writes contributions, its channel,
/// its host, a line break, and its plugins.
void say_hello(const mpi::Comm& comm, mpi::Pool& pool, const SharedAddress& contributions,
               const SharedAddress& channel)
{
    const auto text = host_name() + '\n' + loaded_plugins();
    auto bytes = pool.take(sizeof contributions + sizeof channel + text.size());
    Writer out(*bytes);
    out.put(contributions);
    out.put(channel);
    for (const char letter : text) out.put(letter);
    mpi::send_blocking(comm, 0, mpi::Tag::hello, std::move(bytes));
}

/// Sends every other rank its join reply. On the coordinator.
/// @param ranks  for each worker, its rank; none if the run does not take place
/// @param began_with, loads  as in JoinReply
void send_join_replies(const mpi::Comm& comm, const Doorbells& bells,
                       const CoordinatorMemory& memory, int status,
                       const std::vector<int>& ranks = {}, int began_with = 0, bool loads = false)
{
    mpi::Pool pool;
    std::vector<mpi::Transfer> sends;
    for (int rank = 1; rank < comm.size(); ++rank) {
        const auto at = std::ranges::find(ranks, rank);
        const auto worker = at == ranks.end() ? -1 : static_cast<Worker>(at - ranks.begin());
        sends.push_back(mpi::send(
            comm, rank, mpi::Tag::join_reply,
            encode_values(pool, JoinReply{bells.address(), memory.points_address(),
                                          memory.reads(rank), memory.has_channel(rank),
                                          launched_process(), status, worker, began_with, loads})));
    }
    mpi::wait_until_sent(std::move(sends));
}

/// How a rank ends.
struct End {
    int status;
    bool finalize = true;  // whether by MPI_Finalize, which would wait for ever for dead ranks
    bool lost = false;     // whether there are ranks for which the launcher may wait for ever
};

/// Tells all ranks that the run does not take place. Waits for the farewell of each, because this
/// process may end soon, and every join reply must have arrived before that.
End dismiss(const mpi::Comm& comm, const Doorbells& bells, int status)
{
    send_join_replies(comm, bells, {}, status);
    mpi::Pool pool;
    for (int rank = 1; rank < comm.size(); ++rank) mpi::receive_blocking(comm, rank, pool);
    return {status == nothing_to_do ? exit_done : status};
}

// Scores models on all workers. If a worker dies meanwhile, scores the rest in this process.
void evaluate(MpiFleet& fleet, const Training& training,
              const std::function<std::vector<Point>()>& next,
              const std::function<void(const Scored&)>& scored)
{
    std::vector<Point> asked;  // models that are not scored yet
    const auto ask = [&] {
        auto some = next();
        asked.insert(asked.end(), some.begin(), some.end());
        return some;
    };
    const auto receive = [&](const Scored& one) {
        asked.erase(asked.begin());
        scored(one);
    };
    try {
        fleet.evaluate(*training.data, *training.model, ask, receive);
    } catch (const MpiFleet::Lost&) {
        const auto again = [&] { return asked.empty() ? next() : std::exchange(asked, {}); };
        evaluate_here(*training.data, *training.model, again, scored);
    }
}

// Returns for each worker of the run its rank; -1: it has none any more.
// @param hosts  of the ranks that are workers, from rank 1 on
std::vector<int> ranks_of(const std::vector<std::string>& hosts, const Resumption* resumed)
{
    auto placed = place_ranks(hosts);
    if (!resumed) return placed;
    std::vector<int> ranks(static_cast<std::size_t>(resumed->workers()), -1);
    for (std::size_t i = 0; i < placed.size(); ++i)
        ranks[static_cast<std::size_t>(resumed->here[i])] = placed[i];
    return ranks;
}

// What the coordinator of run_over_mpi() does otherwise than that of run_in_memory().
struct Coordinator {
    /// Checks the files of the run. @return what it goes on from, if anything  @throws BadInput
    std::function<std::optional<Resumption>(const Settings&, const Training&)> prepare;
    std::function<int(const Settings&, const Run&)> run;  // @return the exit status
    // Called with what went wrong, before the other ranks are told.
    std::function<void(const std::exception&)> failed;
};

// The coordinator's part of a run: checks everything, tells the other ranks, and trains.
// @param scoring  a communicator for LiveScoring only
End lead(const Settings& settings, const mpi::Comm& comm, const mpi::Comm& scoring,
         const Coordinator& coordinator)
{
    std::optional<Training> training;
    std::optional<Resumption> resumed;
    Optimizers optimizers;
    Doorbells bells(comm.size());
    auto [hosts, plugins, contributions, channels] = receive_hellos(comm);
    try {
        check_world(comm.size());
        for (std::size_t i = 0; i < plugins.size(); ++i)
            check_same_plugins(fmt::format("rank {}", i + 1), plugins[i]);
        training.emplace(build(settings, comm.size(), workers_to_resume(settings)));
        optimizers = begin_training(*training);
        resumed = coordinator.prepare(training->settings, *training);
        if (resumed && resumed->completed) return dismiss(comm, bells, nothing_to_do);
    } catch (const BadInput& wrong) {
        coordinator.failed(wrong);
        return dismiss(comm, bells, exit_bad_input);
    } catch (const mpi::Error&) {
        throw;
    } catch (const std::exception& error) {
        coordinator.failed(error);
        return dismiss(comm, bells, exit_failed);
    }
    std::optional<CoordinatorMemory> memory(std::in_place);
    if (shares_memory(settings)) memory.emplace(bells, contributions, channels);
    hosts.resize(static_cast<std::size_t>(training->here));
    const auto ranks = ranks_of(hosts, resumed ? &*resumed : nullptr);
    // If others are there than in the beginning, the code is made for them before they do anything.
    const bool loads =
        std::ssize(ranks) == training->workers && std::ranges::find(ranks, -1) == ranks.end();
    send_join_replies(comm, bells, *memory, exit_done, ranks, training->workers, loads);
    has_started();
    std::vector<int> standby, idle;
    for (int rank = training->here + 1; rank < comm.size(); ++rank)
        (rank <= training->here + training->standby ? standby : idle).push_back(rank);
    MpiFleet fleet(comm, ranks, standby, idle, training->width(), training->wire,
                   settings.real("timeout", 0.1), bells, *memory);
    const auto groups = resumed ? groups_to_go_on_with(resumed->trace, fleet.workers())
                                : groups_to_aggregate(*training, fleet.workers());
    if (!groups.empty()) fleet.aggregate(groups, contributions);
    if (!resumed) note_aggregation(*training, fleet);
    std::optional<LiveScoring> live;
    if (scores_live(settings)) {
        live.emplace(scoring, comm.size() - 1);
        fleet.keep_mpi_moving();
    }
    End end{exit_failed};
    try {
        if (groups.empty()) check_kept(*training);
        const Run run{
            *training,
            fleet,
            optimizers,
            [&](const auto& next, const auto& scored) { evaluate(fleet, *training, next, scored); },
            resumed ? &*resumed : nullptr,
            true,
            live ? &*live : nullptr};
        end.status = coordinator.run(training->settings, run);
    } catch (const mpi::Error&) {
        throw;
    } catch (const std::exception& error) {
        coordinator.failed(error);
        if (dynamic_cast<const BadInput*>(&error)) end.status = exit_bad_input;
    }
    // Stops the scorer of a run that failed; if the run did not fail, train() has done so.
    if (live) live->finish([](auto, const auto&) {});
    end.finalize = !fleet.has_dead_ranks() && !settings.on("resilient");
    fleet.finish(end.finalize);
    end.lost = fleet.has_lost_ranks();
    return end;
}

// Waits until the coordinator's launched process has ended, 5 s at most, if it is on this host.
// Hydra loses the exit status of the process that ends last on its host, which must not be the
// coordinator's, because that is the status of the run.
void let_go_first(const Doorbells& bells, const JoinReply& join_reply)
{
    if (bells.present()) outlive(static_cast<pid_t>(join_reply.launched), 5);
}

// The part of every other rank: says hello, and works until the coordinator ends the run.
End follow(const Settings& settings, const mpi::Comm& comm, const mpi::Comm& scoring)
{
    mpi::Pool pool;
    WorkerMemory memory;
    if (shares_memory(settings)) {
        memory.contributions = {"quorate-contributions", 1};
        memory.channel = Channel::make();
    }
    say_hello(comm, pool, memory.contributions.address(), memory.channel.address());
    const auto join_reply = Reader(*mpi::receive_blocking(comm, 0, pool).bytes).get<JoinReply>();
    Doorbells bells(join_reply.bells, comm.rank(), comm.size());
    if (join_reply.status != exit_done) {
        try {
            mpi::send_blocking(comm, 0, mpi::Tag::farewell, pool.take(0));
        } catch (const mpi::Error&) {
            // The coordinator of a resilient run may end as soon as it has this message, and before
            // the send completes here.
            if (!settings.on("resilient")) throw;
        }
        if (settings.on("resilient")) let_go_first(bells, join_reply);
        return {join_reply.status == nothing_to_do ? exit_done
                                                   : static_cast<int>(join_reply.status)};
    }
    memory.points = {join_reply.points, comm.size(), comm.rank()};
    memory.read_here = join_reply.reads != 0;
    if (join_reply.channel == 0) memory.channel = Channel();
    has_started();
    const auto training = build(settings, comm.size(), join_reply.began_with);
    MpiWorker worker(comm, *training.data, training.computing(), training.engine.reencode,
                     {training.row_time, *training.delays, *training.slowdowns}, training.byzantine,
                     settings.real("timeout", 0.1), bells, memory);
    if (join_reply.worker >= 0 && !join_reply.loads)
        worker.present();
    else if (join_reply.worker >= 0)
        worker.take(Assignment{join_reply.worker, training.workers, join_reply.worker, 0});
    if (scores_live(settings) && comm.rank() == comm.size() - 1)
        score_live(scoring, *training.data, *training.model);
    try {
        const bool finalize = worker.run(stop_asked());
        if (finalize) return {exit_done};
    } catch (const Orphaned&) {
        // Nothing is logged here: whoever saw the coordinator end has reported it.
        if (!settings.on("resilient")) return {exit_failed, false};
    } catch (const mpi::Error&) {
        // A worker sends to the coordinator only, which in a resilient run may have ended.
        if (!settings.on("resilient")) throw;
    }
    let_go_first(bells, join_reply);
    return {exit_done, false};  // the status of a resilient run is the coordinator's
}

}  // namespace

std::vector<Option> mpi_run_options()
{
    auto options = training_options();
    options.push_back({"evaluate", "after|live", "after",
                       "score models after the run, or on a spare rank, the last one, as it comes "
                       "round to them; the others after the run"});
    options.push_back(
        {"transport", "shared|messages", "shared",
         "how points, contributions and messages travel on the coordinator's host: in "
         "shared memory, where it can be had, or by MPI, as between hosts"});
    options.push_back(aggregation_option());
    options.push_back({"resilient", "", "",
                       "survive the death of any worker: messages by TCP, a supervisor for each "
                       "rank; start it with mpiexec.mpich -disable-auto-cleanup, mpiexec.openmpi "
                       "--mca orte_allowed_exit_without_sync 1, or srun --mpi=pmi2 "
                       "--kill-on-bad-exit=0 --no-kill"});
    return options;
}

int run_over_mpi(const Settings& settings)
{
    if (settings.on("resilient")) supervise();
    start_mpi();
    const mpi::Comm comm(MPI_COMM_WORLD);
    listen_for_signals(comm.rank() == 0);
    const mpi::Comm scoring(MPI_COMM_WORLD);  // for messages with the rank that scores live
    std::optional<RunFolder> folder;
    const Coordinator coordinator{
        [&](const Settings& given, const Training& training) {
            folder.emplace(given);
            stop_in(seconds_to_run(given));
            return folder->prepare(training);
        },
        [&](const Settings&, const Run& run) {
            return folder->ended(traced_run(folder->settings(), run, "wall"));
        },
        [](const std::exception& error) {
            // Under the launcher of another MPI every rank leads a world of its own and fails
            // alike; one message is enough.
            if (speaks_for_all()) log(LogLevel::error, error.what());
        }};
    const auto end = comm.rank() == 0 ? lead(settings, comm, scoring, coordinator)
                                      : follow(settings, comm, scoring);
    if (end.finalize && !settings.on("resilient")) return end.status;
    std::fflush(nullptr);
    if (end.lost) end_hydra(hydra_socket(), end.status);
    std::_Exit(end.status);
}

std::optional<trace::Trace> run_in_memory(const Settings& settings)
{
    refuse_files(settings);
    if (settings.on("resilient"))
        settings.refuse("resilient", ", which ends processes: use quorate run");
    start_mpi();
    const mpi::Comm comm(MPI_COMM_WORLD);
    const mpi::Comm scoring(MPI_COMM_WORLD);
    if (comm.rank() != 0) {
        const auto status = follow(settings, comm, scoring).status;
        if (status == exit_bad_input) throw RefusedRun("the coordinator has refused this run");
        if (status != exit_done) throw Failure("the coordinator has failed");
        return {};
    }
    trace::Trace result;
    std::exception_ptr error;
    lead(settings, comm, scoring,
         {[](const Settings&, const Training&) { return std::optional<Resumption>(); },
          [&](const Settings& given, const Run& run) {
              trace::Memory memory(header_of(given, run, "wall"));
              train(run, memory, never_stop);
              result = memory.take();
              return exit_done;
          },
          [&](const std::exception&) { error = std::current_exception(); }});
    if (error) std::rethrow_exception(error);
    return result;
}

}  // namespace quorate
