// SPDX-License-Identifier: BSD-2-Clause
// quorate evaluate: scores the models that a trace keeps, on all ranks.
#include <fmt/format.h>

#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "commands/options.hpp"
#include "process/launch.hpp"
#include "process/session.hpp"
#include "ranks/evaluation_team.hpp"
#include "run/evaluations.hpp"
#include "run/recorded.hpp"
#include "trace/appender.hpp"
#include "transport/mpi_endpoint.hpp"

namespace quorate {

namespace {

int evaluate(const Settings& settings)
{
    start_mpi();
    transport::MpiEndpoint endpoint;
    const auto& path = settings.text("TRACE");
    std::optional<Recorded> recorded;
    const bool good = all_agree([&] {
        recorded.emplace(read_recorded(path, options_of_runs(), settings.text("data")));
        if (recorded->trace.iterates == 0)
            throw BadInput(path + " keeps no models: run with --evaluate-every of at least 1");
        if (recorded->trace.status() == "running" && !settings.on("running"))
            throw BadInput(path +
                           " says that its run goes on: wait for its end, or give --running "
                           "if it was killed");
    });
    if (!good) return exit_bad_input;
    const auto& run = *recorded;
    if (endpoint.rank() != 0) {
        evaluate_on_all_ranks(endpoint, run.scoring(), {}, {});
        return exit_done;
    }
    // All ranks have read the trace, because all_agree() waits for them. So this one may write to
    // it.
    trace::Appender trace(path);
    std::set<std::int64_t> scored;
    for (const auto& row : run.trace.evaluations) scored.insert(row.round);
    const auto before = scored.size();
    const auto last = score_kept(trace, run.trace.rounds, scored, run.width(), run.regularizer,
                                 [&](const auto& next, const auto& add) {
                                     evaluate_on_all_ranks(endpoint, run.scoring(), next, add);
                                 });
    trace.close();
    if (settings.on("quiet")) return exit_done;
    say(fmt::format("{}: {} models scored, {} were before\n", path, scored.size() - before,
                    before));
    if (last.round > 0) say(quality_line(last));
    return exit_done;
}

}  // namespace

Command evaluate_command()
{
    return {
        .name = "evaluate",
        .text = "score the models that a run kept and did not score; alone or under mpiexec",
        .operand = "TRACE",
        .options = {{"data", "FILE", "", "where the run's data set is now; default: where it was"},
                    {"running", "", "", "the run of the trace is over, although it says running"}},
        .run = evaluate,
        .ranks = true,
        .examples = {"quorate evaluate frc.h5"}};
}

}  // namespace quorate
