// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <hdf5.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/build.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/shell.hpp"
#include "base/streams.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/named_plugins.hpp"
#include "cli/parse.hpp"
#include "cli/usage.hpp"
#include "parts/plugins.hpp"
#include "process/launch.hpp"
#include "process/session.hpp"

namespace quorate {

namespace {

// Makes the process one that has nothing to do with a launcher. @throws BadInput if it is one of
// several
void be_one_process(const std::string& command)
{
    refuse_launcher(command);
    forget_launcher();
    // Whoever reads the messages may stop to. (A rank whose launcher has gone is to end.)
    std::signal(SIGPIPE, SIG_IGN);
}

int dispatch(std::vector<std::string> words)
{
    if (words.empty() || words[0] == "--help" || words[0] == "-h") words = {"help"};
    if (words[0] == "--version") {
        fmt::print("quorate {} ({})\n", version, git_revision);
        return exit_done;
    }
    if (const auto command = command_named(words[0]); !command.ranks) {
        be_one_process(command.name);
        if (command.run_words) return command.run_words({words.begin() + 1, words.end()});
    }
    load_named_plugins(words);
    const auto command = command_named(words[0]);
    auto settings = parse(command, {words.begin() + 1, words.end()});
    settings.command_line = "quorate" + arguments(words);
    if (settings.on("help")) {
        fmt::print("{}", usage(command, settings));
        return exit_done;
    }
    if (settings.on("quiet") && settings.on("verbose"))
        throw BadInput("--quiet and --verbose say the opposite: leave out one of the two");
    log_up_to(settings.on("verbose") ? LogLevel::detail
              : settings.on("quiet") ? LogLevel::warning
                                     : LogLevel::note);
    if (speaks_for_all())
        log(LogLevel::detail, fmt::format("{}; revision {}; plugins: {}", built_with, git_revision,
                                          loaded_plugins()));
    return command.run(settings);
}

// Runs a command, and writes what it printed.
int run(const std::vector<std::string>& words)
{
    int status = exit_done;
    try {
        status = dispatch(words);
    } catch (const std::system_error& error) {
        write_results(error.code().value());  // if it was fmt that could not print
        throw;
    }
    write_results();
    return status;
}

// Whether this process is alone, so that no other rank can wait for it.
bool is_alone()
{
    int started = 0, ended = 0, size = 1;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (started && !ended) MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size == 1;
}

int fail(int status, const std::exception& error)
{
    const bool another_speaks = status == exit_bad_input && !speaks_for_all() && has_launcher();
    if (!another_speaks)
        log(status == exit_bad_input ? LogLevel::error : LogLevel::failure, reason_of(error));
    // The end of one rank makes mpiexec kill the others, and they would wait for this one for ever,
    // so MPI aborts them. Either may cut off the message, which therefore gets some time to leave.
    if (another_speaks) std::this_thread::sleep_for(std::chrono::seconds(1));
    if (is_alone()) return end_mpi(status);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    MPI_Abort(MPI_COMM_WORLD, status);
    return status;
}

}  // namespace

int program(const std::vector<std::string>& words)
{
    open_standard_streams();
    // A file that reaches its size limit is then a failed write, as on a full disk, and does not
    // kill the process.
    std::signal(SIGXFSZ, SIG_IGN);
    if (!has_built_instructions()) {
        std::fprintf(stderr,
                     "quorate: this processor lacks %s, for which the program was built: build it "
                     "here, or with OPT='-O3 -march=x86-64-v2'\n",
                     built_instructions().c_str());
        return exit_failed;
    }
    // Otherwise HDF5 would, at exit or in MPI_Finalize, close again what could not be closed on a
    // full disk, and crash. For this, HDF5 must be opened here, before it opens itself and before
    // MPI is started.
    H5dont_atexit();
    H5open();
    try {
        return end_mpi(run(words));
    } catch (const BadInput& error) {
        return fail(exit_bad_input, error);
    } catch (const std::exception& error) {
        return fail(exit_failed, error);
    }
}

}  // namespace quorate
