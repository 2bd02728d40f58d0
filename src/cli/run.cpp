// SPDX-License-Identifier: BSD-2-Clause
// quorate run: one run, under mpiexec or srun.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/host.hpp"
#include "cli/command.hpp"
#include "cli/launch.hpp"
#include "cli/stop.hpp"
#include "cli/train.hpp"
#include "fleet/mail.hpp"
#include "fleet/mpi_fleet.hpp"
#include "fleet/mpi_worker.hpp"
#include "fleet/seating.hpp"

namespace quorate {

namespace {

bool scores_live(const Settings& settings)
{
    return settings.one_of("evaluate", {"after", "live"}) == "live";
}

Training build(const Settings& settings, int ranks)
{
    const int spare = scores_live(settings) ? 1 : 0;
    auto training = build_training(settings, std::max(1, ranks - 1 - spare));
    if (spare == 1 && training.workers > ranks - 2)
        settings.refuse(
            "evaluate",
            fmt::format(", but of {} ranks none is to spare beside a coordinator and {} "
                        "workers: start {} ranks",
                        ranks, training.workers, training.workers + 2));
    if (training.workers > ranks - 1)
        settings.refuse("workers",
                        fmt::format(", but {} ranks make a coordinator and {} workers: start {} "
                                    "ranks",
                                    ranks, ranks - 1, training.workers + 1));
    return training;
}

/// The answer to a rank's hello: what the coordinator found when it checked all that can be wrong,
/// and who the rank is.
struct Verdict {
    DoorbellAddress bells;
    std::int64_t status;
    Worker worker;  // -1: none, it stands by
};

/// Hosts of the ranks 1, 2, ...
std::vector<std::string> hear_hosts(const mpi::Comm& comm)
{
    mpi::Pool pool;
    std::vector<std::string> hosts;
    for (int rank = 1; rank < comm.size(); ++rank) {
        const auto mail = mpi::wait_for(comm, rank, pool);
        const auto* text = reinterpret_cast<const char*>(mail.bytes->data());
        hosts.emplace_back(text, mail.bytes->size());
    }
    return hosts;
}

void say_hello(const mpi::Comm& comm, mpi::Pool& pool)
{
    const auto host = host_name();
    auto bytes = pool.take(host.size());
    std::memcpy(bytes->data(), host.data(), host.size());
    std::vector<mpi::Transfer> sends;
    sends.push_back(mpi::send(comm, 0, mpi::Tag::hello, std::move(bytes)));
    mpi::wait_until_sent(std::move(sends));
}

/// @param ranks  of each worker; none if the run does not take place
int tell_verdict(const mpi::Comm& comm, const Doorbells& bells, int status,
                 const std::vector<int>& ranks = {})
{
    mpi::Pool pool;
    std::vector<mpi::Transfer> sends;
    for (int rank = 1; rank < comm.size(); ++rank) {
        const auto at = std::ranges::find(ranks, rank);
        const auto worker = at == ranks.end() ? -1 : static_cast<Worker>(at - ranks.begin());
        sends.push_back(mpi::send(comm, rank, mpi::Tag::verdict,
                                  encode_values(pool, Verdict{bells.address(), status, worker})));
    }
    mpi::wait_until_sent(std::move(sends));
    return status;
}

int lead(const Settings& settings, const mpi::Comm& comm, const mpi::Comm& scoring)
{
    std::optional<Training> training;
    Optimizers optimizers;
    Doorbells bells(comm.size());
    auto hosts = hear_hosts(comm);
    try {
        check_world(comm.size());
        training.emplace(build(settings, comm.size()));
        optimizers = build_optimizers(settings, *training);
    } catch (const BadInput& wrong) {
        // Under a foreign launcher every rank leads a world of its own; one message is enough.
        if (launch_environment().rank.value_or(0) == 0)
            fmt::print(stderr, "quorate: {}\n", wrong.what());
        return tell_verdict(comm, bells, exit_bad_input);
    }
    hosts.resize(static_cast<std::size_t>(training->workers));
    const auto ranks = seating(hosts);
    tell_verdict(comm, bells, exit_done, ranks);
    MpiFleet fleet(comm, ranks, training->width(), bells);
    std::optional<LiveScoring> live;
    if (scores_live(settings)) live.emplace(scoring, comm.size() - 1);
    int status = exit_failed;
    try {
        status = train(
            settings, *training, fleet, optimizers, "wall",
            [&](const auto& next, const auto& scored) {
                fleet.evaluate(*training->data, *training->model, next, scored);
            },
            live ? &*live : nullptr);
    } catch (const mpi::Error&) {
        throw;
    } catch (const Failure& error) {
        // The others can be told, so they are: MPI_Abort may cut off the message.
        fmt::print(stderr, "quorate: {}\n", error.what());
    }
    if (live) live->finish([](auto, const auto&) {});  // of a run that failed
    fleet.finish();
    // Standby ranks slept until now: MPI_Finalize would have made them spin.
    mpi::Pool pool;
    std::vector<mpi::Transfer> sends;
    for (int rank = training->workers + 1; rank < comm.size() - (live ? 1 : 0); ++rank)
        sends.push_back(mpi::send(comm, rank, mpi::Tag::stop, encode_values(pool)));
    mpi::wait_until_sent(std::move(sends));
    return status;
}

int follow(const Settings& settings, const mpi::Comm& comm, const mpi::Comm& scoring)
{
    mpi::Pool pool;
    say_hello(comm, pool);
    const auto verdict = Reader(*mpi::wait_for(comm, 0, pool).bytes).get<Verdict>();
    if (verdict.status != exit_done) return static_cast<int>(verdict.status);
    const auto training = build(settings, comm.size());
    Doorbells bells(verdict.bells, comm.rank(), comm.size());
    const auto computing = training.computing();
    if (verdict.worker >= 0)
        MpiWorker(comm, verdict.worker, *training.data, computing,
                  {training.row_time, *training.delays, *training.slowdowns}, training.liars,
                  training.needs, bells)
            .run();
    else if (scores_live(settings) && comm.rank() == comm.size() - 1)
        score_live(scoring, *training.data, *training.model);
    else
        mpi::wait_for(comm, 0, pool);
    return exit_done;
}

int run(const Settings& settings)
{
    const Session session;
    const mpi::Comm comm(MPI_COMM_WORLD);
    listen_for_signals(comm.rank() == 0);
    const mpi::Comm scoring(MPI_COMM_WORLD);  // of the rank that scores models meanwhile
    return comm.rank() == 0 ? lead(settings, comm, scoring) : follow(settings, comm, scoring);
}

}  // namespace

Command run_command()
{
    auto options = training_options();
    options.push_back({"evaluate", "after|live", "after",
                       "score models after the run, or on a spare rank, the last one, as it comes "
                       "round to them; the others after the run"});
    return {"run", "train a model; start it with mpiexec or srun", "", options, run};
}

}  // namespace quorate
