// SPDX-License-Identifier: BSD-2-Clause
// quorate run: one run, under mpiexec or srun.
#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/launch.hpp"
#include "cli/stop.hpp"
#include "cli/training.hpp"
#include "fleet/mpi_fleet.hpp"
#include "fleet/mpi_worker.hpp"

namespace quorate {

namespace {

Training build(const Settings& settings, int ranks)
{
    auto training = build_training(settings, ranks - 1);
    if (training.workers > ranks - 1)
        settings.refuse("workers",
                        fmt::format(", but {} ranks make a coordinator and {} workers: start {} "
                                    "ranks",
                                    ranks, ranks - 1, training.workers + 1));
    return training;
}

/// The first message: what the coordinator found when it checked all that can be wrong.
struct Verdict {
    DoorbellAddress bells;
    std::int64_t status;
};

int tell_verdict(const mpi::Comm& comm, const Doorbells& bells, int status)
{
    mpi::Pool pool;
    Patience patience(1e-3);
    std::vector<mpi::Transfer> sends;
    for (int rank = 1; rank < comm.size(); ++rank)
        sends.push_back(mpi::send(comm, rank, mpi::Tag::verdict,
                                  encode_values(pool, Verdict{bells.address(), status})));
    for (auto& send : sends)
        while (!send.done()) patience.rest();
    return status;
}

mpi::Transfer wait_for_coordinator(const mpi::Comm& comm)
{
    mpi::Pool pool;
    Patience patience(1e-3);
    for (;;) {
        if (auto mail = mpi::receive(comm, 0, pool)) {
            while (!mail->done()) patience.rest();
            return std::move(*mail);
        }
        patience.rest();
    }
}

int lead(const Settings& settings, const mpi::Comm& comm)
{
    std::optional<Training> training;
    std::unique_ptr<Optimizer> optimizer;
    Doorbells bells(comm.size());
    try {
        check_world(comm.size());
        training.emplace(build(settings, comm.size()));
        optimizer = build_optimizer(settings, *training);
    } catch (const BadInput& wrong) {
        // Under a foreign launcher every rank leads a world of its own; one message is enough.
        if (launch_environment().rank.value_or(0) == 0)
            fmt::print(stderr, "quorate: {}\n", wrong.what());
        return tell_verdict(comm, bells, exit_bad_input);
    }
    tell_verdict(comm, bells, exit_done);
    MpiFleet fleet(comm, training->workers, training->columns, bells);
    int status = exit_failed;
    try {
        status = train(settings, *training, fleet, *optimizer, "wall",
                       [&](const auto& next, const auto& scored) {
                           fleet.evaluate(*training->data, *training->model, next, scored);
                       });
    } catch (const mpi::Error&) {
        throw;
    } catch (const Failure& error) {
        // The others can be told, so they are: MPI_Abort may cut off the message.
        fmt::print(stderr, "quorate: {}\n", error.what());
    }
    fleet.finish();
    // Standby ranks slept until now: MPI_Finalize would have made them spin.
    mpi::Pool pool;
    Patience patience(1e-3);
    for (int rank = training->workers + 1; rank < comm.size(); ++rank) {
        auto stop = mpi::send(comm, rank, mpi::Tag::stop, encode_values(pool));
        while (!stop.done()) patience.rest();
    }
    return status;
}

int follow(const Settings& settings, const mpi::Comm& comm)
{
    const auto mail = wait_for_coordinator(comm);
    const auto verdict = Reader(*mail.bytes).get<Verdict>();
    if (verdict.status != exit_done) return static_cast<int>(verdict.status);
    const auto training = build(settings, comm.size());
    const Worker worker = comm.rank() - 1;
    Doorbells bells(verdict.bells, comm.rank(), comm.size());
    if (worker < training.workers)
        MpiWorker(comm, worker, *training.data, *training.model,
                  {training.row_time, *training.delays, *training.slowdowns}, training.liars,
                  training.needs, bells)
            .run();
    else
        wait_for_coordinator(comm);
    return exit_done;
}

int run(const Settings& settings)
{
    const Session session;
    const mpi::Comm comm(MPI_COMM_WORLD);
    listen_for_signals(comm.rank() == 0);
    return comm.rank() == 0 ? lead(settings, comm) : follow(settings, comm);
}

}  // namespace

Command run_command()
{
    return {"run", "train a model; start it with mpiexec or srun", "", training_options(), run};
}

}  // namespace quorate
