// SPDX-License-Identifier: BSD-2-Clause
#include "commands/run.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/options.hpp"
#include "commands/run_folder.hpp"
#include "commands/thread_run.hpp"
#include "commands/traced_run.hpp"
#include "process/launch.hpp"
#include "process/session.hpp"
#include "process/stop.hpp"
#include "process/supervisor.hpp"
#include "trace/memory.hpp"
#include "transport/mpi_endpoint.hpp"

namespace quorate {

namespace {

int ranks_of_world()
{
    int size = 1;
    mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    return size;
}

// The coordinator of `quorate run`.
class CommandCoordinator {
public:
    Coordinator parts(std::function<void()> check)
    {
        return {std::move(check),
                [this](const Settings& given, const Training& training, const NextState& next) {
                    listen_for_signals(true);
                    folder_.emplace(given);
                    stop_in(seconds_to_run(given));
                    return folder_->prepare(training, next);
                },
                [this](const Settings&, const Run& run) {
                    return folder_->ended(
                        traced_run(folder_->settings(), run, "wall", folder_->owner()));
                },
                [](const std::exception& error) { log(LogLevel::error, reason_of(error)); },
                [this] { return folder_->settings(); }};
    }

private:
    std::optional<RunFolder> folder_;
};

End run_to_its_end(const Settings& settings)
{
    if (!launch_environment().size && !has_launcher()) forget_launcher();
    if (settings.on("resilient") && launch_environment().size) supervise();
    start_mpi();
    if (ranks_of_world() == 1) return {run_on_threads(settings)};
    transport::MpiEndpoint endpoint;
    listen_for_signals(endpoint.rank() == 0);
    CommandCoordinator coordinator;
    const auto parts = coordinator.parts([&] { check_world(endpoint.size()); });
    return endpoint.rank() == 0 ? lead(settings, endpoint, parts)
                                : follow(settings, endpoint, stop_asked(), &parts);
}

}  // namespace

int run_and_return(const Settings& settings) { return run_to_its_end(settings).status; }

int run_with_trace(const Settings& settings)
{
    const auto end = run_to_its_end(settings);
    if (end.finalize && !settings.on("resilient")) return end.status;
    std::fflush(nullptr);
    if (end.lost) end_hydra(hydra_socket(), end.status);
    std::_Exit(end.status);
}

int run_on_threads(const Settings& settings, const ThreadRanks& ranks)
{
    start_mpi();
    listen_for_signals(true);
    try {
        check_world(1);
        ranks_to_start(settings);
    } catch (const BadInput&) {
        // Under the launcher of another MPI every rank is a world of its own and comes here.
        if (speaks_for_all()) throw;
        return exit_bad_input;
    }
    CommandCoordinator coordinator;
    return lead_threads(settings, coordinator.parts([] {}), ranks).status;
}

std::optional<trace::Trace> run_in_memory(const Settings& settings)
{
    refuse_files(settings);
    if (settings.on("resilient"))
        settings.refuse("resilient", ", which ends processes: use quorate run");
    start_mpi();
    trace::Trace result;
    std::exception_ptr error;
    const Coordinator coordinator{[] {},
                                  [](const Settings&, const Training&, const NextState&) {
                                      return std::optional<Resumption>();
                                  },
                                  [&](const Settings& given, const Run& run) {
                                      trace::Memory memory(header_of(given, run, "wall"));
                                      train(run, memory, never_stop);
                                      result = memory.take();
                                      return exit_done;
                                  },
                                  [&](const std::exception&) { error = std::current_exception(); }};
    check_world(ranks_of_world());
    if (ranks_of_world() == 1) {
        lead_threads(settings, coordinator);
    } else {
        transport::MpiEndpoint endpoint;
        if (endpoint.rank() != 0) {
            const auto status = follow(settings, endpoint, stop_asked()).status;
            if (status == exit_bad_input) throw RefusedRun("the coordinator has refused this run");
            if (status != exit_done) throw Failure("the coordinator has failed");
            return {};
        }
        lead(settings, endpoint, coordinator);
    }
    if (error) std::rethrow_exception(error);
    return result;
}

}  // namespace quorate
