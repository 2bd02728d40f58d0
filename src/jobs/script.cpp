// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>
#include <cmath>
#include <span>

#include "base/build.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "jobs/share.hpp"
#include "jobs/units.hpp"

namespace quorate {

namespace {

std::string mebibytes(double bytes)
{
    return fmt::format("{}M", static_cast<std::int64_t>(std::ceil(bytes / (1024.0 * 1024))));
}

std::string partition(const Request& request, const Profile& profile)
{
    return plain(request.partition.empty() ? profile.partition : request.partition);
}

// The lines for SLURM. A request of no rows is no array, here and below.
std::vector<std::string> slurm_lines(const Request& request, const Profile& profile)
{
    std::vector<std::string> lines = {"--job-name=" + request.name};
    const bool array = !request.rows.empty();
    const auto add = [&](const std::string& option, const std::string& value) {
        if (!value.empty()) lines.push_back("--" + option + "=" + value);
    };
    add("account", plain(request.account));
    add("partition", partition(request, profile));
    if (request.nodes > 0) add("nodes", std::to_string(request.nodes));
    const bool even = request.nodes > 0 && request.ranks % request.nodes == 0;
    const bool gpus_by_node =
        request.gpus_per_task > 0 && profile.gpu_request == GpuRequest::per_node;
    if (!even) add("ntasks", std::to_string(request.ranks));
    // Beside the number of all tasks it is the most that a node gets.
    if (even || gpus_by_node) add("ntasks-per-node", std::to_string(request.per_node()));
    if (request.threads > 1) add("cpus-per-task", std::to_string(request.threads));
    // srun binds tasks to the GPUs of gpus-per-task; of a node's, each worker takes one in turn.
    if (gpus_by_node)
        add("gpus-per-node", std::to_string(gpus_per_node(profile, request)));
    else if (request.gpus_per_task > 0)
        add("gpus-per-task", std::to_string(request.gpus_per_task));
    const bool whole = request.nodes > 0;
    if (profile.memory_request == MemoryRequest::all && whole)
        add("mem", "0");
    else if (profile.memory_request == MemoryRequest::per_node && whole && request.memory > 0)
        add("mem", mebibytes(request.memory / request.nodes));
    else if (profile.memory_request != MemoryRequest::none && request.memory > 0)
        add("mem-per-cpu", mebibytes(request.memory / request.cores()));
    add("time", clock_time(request.seconds));
    if (array) add("array", ranges(request.rows));
    if (!request.mail.empty()) {
        add("mail-user", plain(request.mail));
        add("mail-type", "END,FAIL");
    }
    add("output", request.name + (array ? ".%A_%a.log" : ".%j.log"));
    lines.push_back("--open-mode=append");
    // The job gets nothing of the submitting shell's environment. What the script exports reaches
    // its steps.
    lines.push_back("--export=NONE");
    if (request.resilient) lines.push_back("--no-kill");
    return lines;
}

std::string pbs_array_option(const Profile& profile)
{
    return profile.scheduler == Scheduler::openpbs ? "-J" : "-t";
}

// OpenPBS knows one range only. Complete runs within it end at once.
std::string pbs_array(const Profile& profile, const std::vector<std::int64_t>& rows)
{
    if (profile.scheduler == Scheduler::torque) return ranges(rows);
    return fmt::format("{}-{}", rows.front(), rows.back());
}

std::vector<std::string> pbs_lines(const Request& request, const Profile& profile)
{
    const int nodes = std::max(1, request.nodes);
    const int each = request.per_node();
    // In PBS a name begins with a letter and has at most 15 characters.
    const bool letter = std::isalpha(static_cast<unsigned char>(request.name[0]));
    std::vector<std::string> lines = {"-N " + ((letter ? "" : "q") + request.name).substr(0, 15)};
    if (!request.account.empty()) lines.push_back("-A " + plain(request.account));
    if (const auto queue = partition(request, profile); !queue.empty())
        lines.push_back("-q " + queue);
    const bool open = profile.scheduler == Scheduler::openpbs;
    std::string memory;
    if (profile.memory_request != MemoryRequest::none && request.memory > 0)
        memory = (open ? ":mem=" : ",mem=") + mebibytes(request.memory / (open ? nodes : 1)) + "b";
    std::string gpus;
    if (request.gpus_per_task > 0)
        gpus = fmt::format("{}={}", open ? ":ngpus" : ":gpus", gpus_per_node(profile, request));
    if (open)
        lines.push_back(fmt::format("-l select={}:ncpus={}:mpiprocs={}{}{}", nodes,
                                    each * request.threads, each, gpus, memory));
    else
        lines.push_back(
            fmt::format("-l nodes={}:ppn={}{}{}", nodes, each * request.threads, gpus, memory));
    lines.push_back("-l walltime=" + clock_time(request.seconds));
    // One run is not submitted as an array.
    if (request.rows.size() > 1)
        lines.push_back(pbs_array_option(profile) + " " + pbs_array(profile, request.rows));
    if (!request.mail.empty()) {
        lines.push_back("-M " + plain(request.mail));
        lines.push_back("-m ae");
    }
    lines.push_back("-j oe");
    return lines;
}

// Returns the script from the first line to where the work begins.
std::string beginning(const Request& request, const Profile& profile, const Origin& origin)
{
    std::string text = "#!/bin/bash\n# made by: " + one_line(origin.command) + "\n";
    for (const auto& comment : origin.comments) text += "# " + one_line(comment) + "\n";
    const bool pbs =
        profile.scheduler == Scheduler::openpbs || profile.scheduler == Scheduler::torque;
    if (profile.scheduler != Scheduler::hosts) {
        auto lines = pbs ? pbs_lines(request, profile) : slurm_lines(request, profile);
        for (const auto& option : split(profile.directives, ' '))
            if (!option.empty()) lines.push_back(option);
        for (const auto& line : lines) text += (pbs ? "#PBS " : "#SBATCH ") + line + "\n";
    }
    text += "set -eo pipefail\n";
    text += "cd " + quoted(request.folder) + "\n";
    if (pbs && !request.rows.empty()) {
        text += "row=${PBS_ARRAY_INDEX:-${PBS_ARRAYID:-${SLURM_ARRAY_TASK_ID:-${row:-" +
                std::to_string(request.rows[0]) + "}}}}\n";
        text += "exec > " + quoted(request.name) + ".\"$row\".log 2>&1\n";
    } else if (pbs) {
        text += "exec > " + quoted(request.name + ".log") + " 2>&1\n";
    }
    if (profile.scheduler == Scheduler::slurm) text += "export SLURM_EXPORT_ENV=ALL\n";
    if (!profile.modules.empty()) text += "module purge\nmodule load " + profile.modules + "\n";
    if (!profile.preload.empty() && request.ranks > 1)
        text += "source " + quoted(profile.preload) + "\n";
    if (request.threads > 1 && request.ranks == 1)
        text += "export OMP_NUM_THREADS=" + std::to_string(request.threads) + "\n";
    return text;
}

std::string with_numbers(std::string text, const Request& request)
{
    boost::replace_all(text, "{ranks}", std::to_string(request.ranks));
    boost::replace_all(text, "{per-node}", std::to_string(request.per_node()));
    boost::replace_all(text, "{threads}", std::to_string(request.threads));
    return text;
}

std::string keep_going(const Profile& profile)
{
    if (!profile.keep_going.empty()) return profile.keep_going;
    if (!profile.launcher.empty()) return "";
    return built_mpi() == "openmpi" ? "--mca orte_allowed_exit_without_sync 1"
                                    : "-disable-auto-cleanup";
}

// The request of a job beside the runs. It asks for one core for some minutes, or for a node where
// the cluster gives no less.
Request small(Request request, const Profile& profile, const std::string& suffix)
{
    constexpr double some_minutes = 1800, some_memory = 4.0 * 1024 * 1024 * 1024;
    request.name += suffix;
    request.rows.clear();
    request.ranks = request.threads = 1;
    request.nodes = profile.whole_nodes ? 1 : 0;
    if (!profile.whole_nodes) request.gpus_per_task = 0;
    request.seconds = std::max(some_minutes, profile.time_least.value_or(0));
    request.memory = some_memory;
    return request;
}

// The launcher's options that bind each rank to as many cores of its own as it has threads. More
// ranks than cores share them, as Open MPI must be told.
std::string binding(const Profile& profile)
{
    if (profile.binding != "cores") return profile.binding;
    if (profile.launcher.starts_with("srun")) return "--cpus-per-task={threads} --cpu-bind=cores";
    return mpi_of_launcher(profile) == "openmpi"
               ? "--bind-to core:overload-allowed --map-by slot:pe={threads}"
               : "-bind-to core:{threads}";
}

// Returns the command that starts the ranks, without the program that they run.
std::string launch_command(const Request& request, const Profile& profile)
{
    std::string command = profile.launcher.empty() ? launcher : profile.launcher;
    const auto add = [&](const std::string& more) {
        if (!more.empty()) command.append(1, ' ').append(with_numbers(more, request));
    };
    if (request.resilient) add(keep_going(profile));
    if (!request.hostfile.empty())
        add((mpi_of_launcher(profile) == "openmpi" ? "--hostfile " : "-f ") +
            quoted(request.hostfile));
    add(binding(profile));
    // srun starts as many ranks as the job has tasks.
    if (!command.starts_with("srun")) add("-n {ranks}");
    return command;
}

}  // namespace

std::string mpi_of_launcher(const Profile& profile)
{
    const auto mpi = profile.mpi.empty() ? built_mpi() : profile.mpi;
    return mpi == "intelmpi" ? "mpich" : mpi;
}

std::string prepare_script(const Request& request, const Profile& profile, const Origin& origin,
                           const std::vector<std::string>& words,
                           const std::vector<std::string>& optimum)
{
    auto text = beginning(small(request, profile, "-prepare"), profile, origin);
    text +=
        fmt::format("[ -e {} ] || {}{}\n", quoted(words.back()), own_command(), arguments(words));
    if (!optimum.empty()) text += own_command() + arguments(optimum) + "\n";
    return text;
}

std::string run_script(const Request& request, const Profile& profile, const Origin& origin)
{
    auto text = beginning(request, profile, origin);
    const auto program = own_command();
    const bool alone = profile.scheduler == Scheduler::hosts;
    const auto row =
        profile.scheduler == Scheduler::slurm ? "\"$SLURM_ARRAY_TASK_ID\"" : "\"$row\"";
    const auto indent = alone ? "  " : "";
    std::string command = program + " simulate";
    if (request.kind == RunKind::run) {
        const auto ranks = launch_command(request, profile) + " " + program;
        text += "# Whether hosts and ranks will do: " + one_line(ranks) + " doctor";
        if (request.threads > 1) text += fmt::format(" --threads {}", request.threads);
        text += request.resilient ? " --resilient\n" : "\n";
        command = ranks + " run";
    }
    command += fmt::format(" --manifest manifest.tsv --row {}", row);
    if (request.workers > 0) command += fmt::format(" --workers {}", request.workers);
    if (request.may_be_done) command += " --resume";
    if (!alone && request.resumes)
        command += fmt::format(" --walltime {:.0f} --stop-before {:.0f}", request.seconds,
                               request.stop_before);
    if (alone)
        text += fmt::format(
            "rows=$({} todo --manifest manifest.tsv --lines)\nfor row in $rows; do\n", program);
    text += fmt::format("{}rc=0\n{}{} || rc=$?\n", indent, indent, command);
    if (request.resilient && request.kind == RunKind::run)
        text += fmt::format(
            "{}# With killed ranks the launcher's status is not the run's: its trace knows.\n"
            "{}rc=0; {} todo --manifest manifest.tsv --row {} || rc=$?\n",
            indent, indent, program, row);
    if (alone)
        text += "  [ \"$rc\" -eq 0 ] || exit \"$rc\"\ndone\n";
    else
        text +=
            "[ \"$rc\" -eq 75 ] && rc=0  # stopped in time: the next link, or a new submission, "
            "goes on\n"
            "exit \"$rc\"\n";
    return text;
}

std::string analyse_script(const Request& request, const Profile& profile, const Origin& origin,
                           const std::vector<std::string>& figure)
{
    auto text = beginning(small(request, profile, "-analyse"), profile, origin);
    const auto analysis = shared_folder("analysis");
    // The runs of an experiment are compared even if their data sets differ (--any-data).
    const auto run = [&](const std::string& command, const std::string& options) {
        text += fmt::format("{} {} {} \"${{traces[@]}}\" --any-data{}\n", quoted(python),
                            quoted(analysis + "/quorate-analysis"), command, options);
    };
    text += fmt::format(
        "traces=$({} todo --manifest manifest.tsv --traces)\n"
        "[ -n \"$traces\" ] || {{ echo 'no run is complete yet' >&2; exit 1; }}\n"
        "mapfile -t traces <<< \"$traces\"\n",
        own_command());
    if (figure.empty()) {
        run("compare", "");
        run("report", " --out report");
        return text;
    }
    const bool tunes = figure[0] == "tune";
    auto options = arguments(std::span(figure).subspan(1)) + " --out report --name figure";
    if (tunes) options += " --refine " + quoted(own_command());
    run(figure[0], options);
    // What was tuned on is no result.
    if (!tunes) run("report", " --out report");
    return text;
}

std::vector<std::string> submit_words(const Request& request, const Profile& profile,
                                      const std::string& script,
                                      const std::vector<std::int64_t>& array,
                                      const std::optional<Dependency>& after)
{
    using Kind = Dependency::Kind;
    if (profile.scheduler == Scheduler::slurm) {
        std::vector<std::string> words = {"sbatch", "--parsable", "--chdir=" + request.folder};
        if (!array.empty()) words.push_back("--array=" + ranges(array));
        if (after) {
            const char* kind = after->kind == Kind::success        ? "afterok"
                               : after->kind == Kind::same_element ? "aftercorr"
                                                                   : "afterany";
            words.push_back(fmt::format("--dependency={}:{}", kind, after->job));
            words.push_back("--kill-on-invalid-dep=yes");
        }
        words.push_back(script);
        return words;
    }
    std::vector<std::string> words = {"qsub"};
    if (array.size() > 1)
        words.insert(words.end(), {pbs_array_option(profile), pbs_array(profile, array)});
    else if (array.size() == 1)
        words.insert(words.end(), {"-v", fmt::format("row={}", array[0])});
    if (after)
        words.insert(
            words.end(),
            {"-W", fmt::format("depend={}:{}", after->kind == Kind::end ? "afterany" : "afterok",
                               after->job)});
    words.push_back(script);
    return words;
}

}  // namespace quorate
