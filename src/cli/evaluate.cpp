// SPDX-License-Identifier: BSD-2-Clause
// quorate evaluate: scores the models that a trace keeps, on all ranks.
#include <fmt/format.h>

#include <optional>
#include <set>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "driver/launch.hpp"
#include "driver/recorded.hpp"
#include "driver/scoring.hpp"
#include "driver/session.hpp"
#include "mpi/evaluation.hpp"
#include "trace/appender.hpp"

namespace quorate {

namespace {

int evaluate(const Settings& settings)
{
    start_mpi();
    const mpi::Comm comm(MPI_COMM_WORLD);
    const auto& path = settings.text("TRACE");
    std::optional<Recorded> recorded;
    const bool good = all_agree([&] {
        recorded.emplace(read_recorded(path, settings.text("data")));
        if (recorded->trace.iterates == 0)
            throw BadInput(path + " keeps no models: run with --evaluate-every of at least 1");
        if (recorded->trace.status() == "running" && !settings.on("running"))
            throw BadInput(path +
                           " says that its run goes on: wait for its end, or give --running "
                           "if it was killed");
    });
    if (!good) return exit_bad_input;
    const auto& run = *recorded;
    if (comm.rank() != 0) {
        evaluate_on_all_ranks(comm, run.data, *run.model, {}, {});
        return exit_done;
    }
    // All ranks have read the trace, because all_agree() waits for them. So this one may write to
    // it.
    trace::Appender trace(path);
    std::set<std::int64_t> scored;
    for (const auto& row : run.trace.evaluations) scored.insert(row.round);
    const auto rounds = trace.iterate_rounds();
    std::vector<std::int64_t> missing;  // iterates without scores, by number
    for (std::size_t i = 0; i < rounds.size(); ++i)
        if (!scored.contains(rounds[i]) && rounds[i] <= std::ssize(run.trace.rounds))
            missing.push_back(static_cast<std::int64_t>(i));

    const auto at_once = models_at_once(run.width());
    std::vector<double> penalties;  // of the models read so far
    const auto models = [&] {
        std::vector<Point> some;
        while (some.size() < at_once && penalties.size() < missing.size()) {
            some.push_back(trace.iterate(missing[penalties.size()]));
            penalties.push_back(run.regularizer.value(*some.back()));
        }
        return some;
    };
    std::size_t done = 0;
    trace::Evaluation last{};
    const auto record = [&](const Scored& one) {
        const auto round = rounds[static_cast<std::size_t>(missing[done])];
        const auto& of = run.trace.rounds[static_cast<std::size_t>(round - 1)];
        last = evaluation_row(round, of.model, of.time, penalties[done], one);
        trace.add(last);
        ++done;
    };
    evaluate_on_all_ranks(comm, run.data, *run.model, models, record);
    trace.close();
    if (settings.on("quiet")) return exit_done;
    fmt::print("{}: {} models scored, {} were before\n", path, missing.size(), scored.size());
    if (!missing.empty()) print_quality(last);
    return exit_done;
}

}  // namespace

Command evaluate_command()
{
    return {"evaluate",
            "score the models that an interrupted run kept; alone or under mpiexec",
            "TRACE",
            {{"data", "FILE", "", "data set with the columns of the run's; default: the run's"},
             {"running", "", "", "the run of the trace is over, although it says running"}},
            evaluate};
}

}  // namespace quorate
