// SPDX-License-Identifier: BSD-2-Clause
// quorate optimum: finds a reference optimum, so that figures can show how far a run is from it.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "cli/command.hpp"
#include "commands/progress.hpp"
#include "optimum/optimum_cache.hpp"
#include "process/launch.hpp"
#include "process/session.hpp"
#include "run/output.hpp"
#include "run/penalties.hpp"
#include "run/recorded.hpp"

namespace quorate {

namespace {

std::vector<Option> optimum_options()
{
    std::vector<Option> all = {
        {"data", "FILE", "", "data set, from 'quorate import' or 'quorate generate'"},
        {"tolerance", "EPS", "1e-8",
         "of the gradient's norm; hinge: of the difference to a lower bound"},
        {"iterations", "N", "10000", "at most"}};
    add_options(all, penalty_options());
    add_options(all, model_options());
    return all;
}

int optimum(const Settings& settings)
{
    start_mpi();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::optional<DataSet> data;
    std::unique_ptr<Model> model;
    Regularizer regularizer;
    OptimumOptions options;
    const auto& name = settings.text("model");
    const bool good = all_agree([&] {
        if (!settings.on("data"))
            throw BadInput("quorate optimum needs --data FILE: make one with 'quorate import'");
        data.emplace(settings.text("data"));
        model = chosen(models(), settings, "model").make(settings, data->shape());
        regularizer = regularizer_of(settings, data->rows(Split::train));
        check_solvable(*model, name, regularizer);
        options.tolerance = settings.real("tolerance", 0);
        options.iterations = settings.integer("iterations", 1, 1'000'000'000);
        const auto cache = optimum_cache_of(data->path());
        check_writable(cache, "data");
        if (std::filesystem::exists(cache) && !is_a("optima", cache))
            throw BadInput(cache + " is not a file of optima: remove it");
    });
    if (!good) return exit_bad_input;
    const bool quiet = settings.on("quiet") || rank != 0;
    WorkProgress progress(quiet);
    options.progress = [&](std::int64_t iteration, double f, double norm) {
        progress.show([&](Seconds) {
            return fmt::format("iteration {}: {:.12g}, gradient {:.3g}", iteration, f, norm);
        });
    };
    const DistributedRows rows(MPI_COMM_WORLD, *data);
    const auto found = find_optimum(rows, *model, name, regularizer, options);
    progress.finish();
    if (rank == 0) {
        store_optimum(*data, {name, regularizer.l2, regularizer.l1}, found, settings.command_line);
        if (!found.reached)
            log(LogLevel::warning, fmt::format("the tolerance of {:g} was not reached: give more "
                                               "--iterations, or be content",
                                               options.tolerance));
    }
    if (!quiet)
        say(fmt::format(
            "{}: {} with l2 {:.9g}, l1 {:.9g}: objective {:.15g}, not below {:.15g}, "
            "gradient {:.3g}, {} iterations of {}, {} evaluations\n",
            optimum_cache_of(data->path()), name, regularizer.l2, regularizer.l1, found.objective,
            found.bound, found.gradient_norm, found.iterations, found.solver, found.evaluations));
    return exit_done;
}

}  // namespace

Command optimum_command()
{
    return {.name = "optimum",
            .text = "a reference optimum of a linear model; alone or under mpiexec",
            .options = optimum_options(),
            .run = optimum,
            .ranks = true,
            .examples = {"quorate optimum --data data.h5"}};
}

}  // namespace quorate
