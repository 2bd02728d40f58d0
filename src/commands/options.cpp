// SPDX-License-Identifier: BSD-2-Clause
#include "commands/options.hpp"

#include "commands/run_folder.hpp"
#include "process/stop.hpp"
#include "run/aggregation.hpp"
#include "run/checkpoint.hpp"
#include "run/training.hpp"

namespace quorate {

namespace {

// Returns the options that traced_run() carries out.
std::vector<Option> trace_options()
{
    std::vector<Option> all = {
        {"trace", "FILE", "trace.h5", "where the trace goes"},
        {"unsaved", "SECONDS", "60s",
         "if the trace cannot be written, go on so long, and try again; then end with status 75"},
        {"overwrite", "", "",
         "replace the trace of a complete run, or of one that could go on from its checkpoint"},
        folder_option(),
        {"manifest", "FILE", "", "take the options of a run of this file (quorate script)"},
        {"row", "N", "", "the number of that run"},
        {"log", "workers", "", "print a line for each contribution, as its worker measured it"},
    };
    add_options(all, stop_options());
    add_options(all, checkpoint_options());
    return all;
}

std::vector<Option> common_options()
{
    auto all = training_options();
    add_options(all, trace_options());
    return all;
}

}  // namespace

std::vector<Option> run_options()
{
    auto options = common_options();
    options.push_back(
        {"evaluate", "after|live", "after",
         "score models after the run; or on a spare rank, the last one, which skips models "
         "that come while it scores another, but not the last"});
    options.push_back(
        {"transport", "shared|messages", "shared",
         "how points, contributions and messages travel on the coordinator's host: in "
         "shared memory, where it can be had, or by MPI, as between hosts"});
    options.push_back(aggregation_option());
    options.push_back({"memory-checkpoint-every", "Nr", "",
                       "with --resilient, also keep the state in the memory of two ranks so often, "
                       "such as 20r for rounds: if others are lost, the run goes back to it"});
    options.push_back({"resilient", "", "",
                       "survive the death of any worker: messages by TCP, a supervisor for each "
                       "rank; start it with mpiexec.mpich -disable-auto-cleanup, mpiexec.openmpi "
                       "--mca orte_allowed_exit_without_sync 1, or srun --mpi=pmi2 "
                       "--kill-on-bad-exit=0 --no-kill"});
    return options;
}

std::vector<Option> simulation_options()
{
    auto all = common_options();
    for (auto& option : all)
        if (option.name == "workers") option.text = "simulated workers";
    const std::vector<Option> own = {
        {"dry", "", "", "simulate times only: no data, no gradients"},
        {"rows", "N", "", "training rows of a dry run; default: 1000 a worker"},
        {"columns", "N", "", "elements of a dry run's messages; default: 0"},
        {"latency", "SECONDS", "0", "of each message"},
        {"bandwidth", "BYTES", "", "a second, of each link; default: messages take no time"},
        {"port", "shared|separate", "shared",
         "the coordinator's link: one message at a time each way, or one link for each worker or "
         "node"},
        {"nodes", "M", "1",
         "hosts over which the workers are spread, the coordinator on the first, to whose workers "
         "messages take no time; 1: all messages pass the network"},
        {"memory-bandwidth", "BYTES", "",
         "a second, at which a node adds up contributions; default: 1e10, or where there is no "
         "--bandwidth it takes no time"},
        aggregation_option(),
        {"load-time", "SECONDS", "0", "to load a training row, where a worker takes another place"},
        {"replay", "TRACE|FOLDER", "",
         "take options, arrivals and their times from a trace, or from that of a run's folder, and "
         "compute its iterates again"}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

std::set<std::string> options_of_runs()
{
    std::set<std::string> names = {"config", "quiet", "verbose", "help", "plugin"};
    for (const auto& options : {run_options(), simulation_options()})
        for (const auto& option : options) names.insert(option.name);
    return names;
}

void refuse_files(const Settings& settings)
{
    for (const auto& option : trace_options())
        if (settings.given(option.name))
            settings.refuse(option.name,
                            ", but what is kept in memory only has none of it: leave it out");
}

}  // namespace quorate
