// SPDX-License-Identifier: BSD-2-Clause
// quorate todo: tells from the traces of an experiment what is left to run.
#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "jobs/status.hpp"

namespace quorate {

namespace {

int status_of(RunState state)
{
    return state == RunState::complete  ? exit_done
           : state == RunState::partial ? exit_run_again
                                        : exit_failed;
}

int todo(const Settings& settings)
{
    const auto& path = settings.text("manifest");
    if (path.empty())
        throw BadInput(
            "quorate todo needs --manifest FILE: the manifest.tsv that quorate script wrote");
    const auto manifest = Manifest::read(path);
    if (settings.on("row")) {
        const auto state = state_of(manifest.row(settings.integer("row", 1)), path);
        if (!settings.on("quiet")) fmt::print("{}\n", to_string(state));
        return status_of(state);
    }
    if (settings.on("table")) {
        for (const auto& row : manifest.rows())
            fmt::print("{}\t{}\t{}\n", row.number, to_string(state_of(row, path)), row.trace);
        return exit_done;
    }
    if (settings.on("traces")) {
        for (const auto& row : manifest.rows())
            if (state_of(row, path) == RunState::complete) fmt::print("{}\n", row.trace);
        return exit_done;
    }
    const auto left = left_to_run(manifest, path);
    if (settings.on("lines"))
        for (const auto number : left) fmt::print("{}\n", number);
    else if (!left.empty())
        fmt::print("{}\n", ranges(left));
    return exit_done;
}

}  // namespace

Command todo_command()
{
    return {
        .name = "todo",
        .text = "the runs of a manifest that are not complete, as the range of a job array",
        .options = {{"manifest", "FILE", "", "that quorate script wrote; its traces are beside it"},
                    {"lines", "", "", "one number a line"},
                    {"table", "", "",
                     "number, state (complete, partial, absent) and trace of every run"},
                    {"traces", "", "", "the traces of the runs that are complete"},
                    {"row", "N", "",
                     "the state of one run; exit status 0 complete, 75 partial, 1 absent"}},
        .run = todo,
        .examples = {"quorate todo --manifest stragglers/manifest.tsv"}};
}

}  // namespace quorate
