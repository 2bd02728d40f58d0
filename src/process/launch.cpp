// SPDX-License-Identifier: BSD-2-Clause
#include "process/launch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/build.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "transport/mpi.hpp"

namespace quorate {

namespace {

std::optional<int> number_in(const char* variable)
{
    const auto number = to_integer(environment(variable));
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// Sends Hydra a message of PMI-1, and waits for a part of the answer; a second at most.
void ask_hydra(int socket, std::string_view words, std::string_view answer)
{
    if (socket < 0) return;
    // A failed write is ignored, because nothing can be done about it here.
    [[maybe_unused]] const auto written = write(socket, words.data(), words.size());
    constexpr int a_second = 1000;
    pollfd ready{socket, POLLIN, 0};
    char text[256];
    std::size_t matched = 0;
    while (matched < answer.size() && poll(&ready, 1, a_second) > 0) {
        const auto size = read(socket, text, sizeof text);
        if (size <= 0) break;
        for (ssize_t i = 0; i < size && matched < answer.size(); ++i)
            matched = text[i] == answer[matched] ? matched + 1 : text[i] == answer[0];
    }
}

bool forgotten = false;  // whether forget_launcher() was called

// The daemon whose child is each task of a step of SLURM.
constexpr const char* slurm_daemon = "slurmstepd";

// Returns the name of the nearest launcher among the processes above this one; empty: there is
// none.
std::string launcher_above()
{
    ProcessEntry above;
    for (auto process = getppid(); process > 0; process = above.parent) {
        above = find_process(process);
        for (const auto* launcher :
             {"hydra", "pmi_proxy", "mpiexec", "mpirun", "orte", "prte", slurm_daemon})
            if (above.name.starts_with(launcher)) return above.name;
    }
    return "";
}

// Whether this process runs in a shell of `srun --pty`, which has the variables of a task of SLURM,
// and its socket.
bool is_shell_of_step()
{
    if (!std::getenv("SLURM_STEP_ID")) return false;
    const auto above = launcher_above();
    if (above == slurm_daemon) return std::getenv("SLURM_PTY_PORT") != nullptr;
    return above.empty() && !std::getenv("PMI_FD") && !std::getenv("PMIX_RANK");
}

// Says what a launcher of this MPI, which has not started this process, has left in the
// environment; empty: nothing. MPI would look for that launcher.
std::string left_over()
{
    if (const char* socket = std::getenv("PMI_FD")) {
        struct stat about {};
        const auto number = to_integer(socket);
        const bool is_socket =
            number && fstat(static_cast<int>(*number), &about) == 0 && S_ISSOCK(about.st_mode);
        return is_socket ? "" : fmt::format("PMI_FD is {}, which is no socket", socket);
    }
    const std::vector<const char*> names = built_mpi() == "openmpi"
                                               ? std::vector{"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}
                                               : std::vector{"PMI_RANK", "PMI_PORT"};
    for (const auto* name : names)
        if (const char* value = std::getenv(name); value && launcher_above().empty())
            return fmt::format("{} is {}", name, value);
    return "";
}

// Says what MPICH's UCX lacks, each of whose processes takes memory of this file system when it
// begins; empty: nothing, or it is not known. Ranks that have begun have theirs.
std::string lack_of_shared_memory()
{
    constexpr std::int64_t mib = 1 << 20, of_rank = 4'292'720;  // of UCX 1.13
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(library, &length);
    if (std::string_view(library).find("ch4:ucx") == std::string_view::npos) return "";
    const auto transports = split(environment("UCX_TLS"), ',');
    if (std::ranges::none_of(transports, [](const std::string& name) {
            return name.empty() || name.starts_with('^') || name == "all" || name == "posix" ||
                   name == "shm" || name == "sm" || name == "mm";
        }))
        return "";
    const auto given = environment("UCX_POSIX_DIR");
    const auto folder = given.empty() ? "/dev/shm" : given;
    struct statvfs about {};
    if (statvfs(folder.c_str(), &about) != 0) return "";
    const auto remedy = "have MPI use TCP (UCX_TLS=tcp,self)";
    if (about.f_flag & ST_RDONLY)
        return fmt::format("{} of {} is read-only, and MPI takes memory there for each rank: {}",
                           folder, host_name(), remedy);
    const auto ranks = std::max(1, number_in("MPI_LOCALNRANKS").value_or(1));
    const auto all = static_cast<std::int64_t>(about.f_blocks * about.f_frsize);
    const auto left = static_cast<std::int64_t>(about.f_bavail * about.f_frsize);
    if (left >= of_rank && all >= ranks * of_rank) return "";
    return fmt::format(
        "{} of {} has {} MiB left of {}, and MPI takes 4.1 MiB there for each of {} rank{}: make "
        "it "
        "larger (docker --shm-size, mount -o remount,size=), or {}",
        folder, host_name(), left / mib, all / mib, ranks, ranks > 1 ? "s" : "", remedy);
}

}  // namespace

ProcessEntry find_process(pid_t process)
{
    std::ifstream status(fmt::format("/proc/{}/status", process));
    ProcessEntry found;
    std::string word;
    status >> word >> found.name;  // the first line is Name: NAME
    while (status >> word)
        if (word == "PPid:") status >> found.parent;
    return found;
}

Launch launch_environment()
{
    if (forgotten) return {};
    // The variables of Open MPI's mpiexec, of Hydra and of srun are read in this order. mpiexec's
    // come first because inside a job the variables of srun are set too.
    Launch launch;
    for (const auto* prefix : {"OMPI_COMM_WORLD_", "PMI_"}) {
        launch.rank = number_in((std::string(prefix) + "RANK").c_str());
        launch.size = number_in((std::string(prefix) + "SIZE").c_str());
        if (launch.rank && launch.size) return launch;
    }
    if (std::getenv("SLURM_STEP_ID")) return {number_in("SLURM_PROCID"), number_in("SLURM_NTASKS")};
    return {};
}

bool all_agree(const std::function<void()>& check)
{
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = size, first = size;  // the lowest rank that found bad input; `size`: none did
    std::string wrong;
    try {
        check();
    } catch (const BadInput& error) {
        mine = rank;
        wrong = error.what();
    }
    mpi::check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    if (first == rank) log(LogLevel::error, wrong);
    return first == size;
}

void check_world(int size)
{
    const auto launch = launch_environment();
    if (size == 1 && launch.size.value_or(1) > 1)
        throw BadInput(fmt::format(
            "this is {} ranks that each see a world of one: the launcher belongs to another "
            "MPI; start this build with {} -n {}",
            *launch.size, launcher, *launch.size));
    const auto tasks = number_in("SLURM_NTASKS");
    // Under Open MPI's mpiexec its daemons are the tasks of SLURM. SLURM_NTASKS then counts
    // daemons, not ranks.
    const bool below_daemon = std::getenv("OMPI_COMM_WORLD_SIZE") && std::getenv("SLURM_STEP_ID");
    if (tasks && *tasks != size && !below_daemon)
        throw BadInput(fmt::format(
            "the world has {} ranks but SLURM_NTASKS is {}: start all {} with srun or {}, or "
            "ask SLURM for {}",
            size, *tasks, *tasks, launcher, size));
    if (const char* nodes = std::getenv("PBS_NODEFILE")) {
        std::ifstream file(nodes);
        const auto slots = std::count(std::istreambuf_iterator<char>(file), {}, '\n');
        if (slots > 1 && size == 1)
            throw BadInput(
                fmt::format("the world has one rank but {} has {} places: start all with {} -n {}",
                            nodes, slots, launcher, slots));
    }
}

int hydra_socket()
{
    if (forgotten) return -1;
    const char* file = std::getenv("PMI_FD");
    // Only Hydra sets both variables. srun sets no MPI_LOCALNRANKS, and its PMI does not mind ranks
    // that end without a message.
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): hydra wrote it
    return file && std::getenv("MPI_LOCALNRANKS") ? std::atoi(file) : -1;
}

void tell_hydra_of_end(int socket) { ask_hydra(socket, "cmd=finalize\n", "finalize_ack"); }

void end_hydra(int socket, int status)
{
    if (socket < 0) return;
    // Hydra has passed on all that was written before, when it answers a question.
    ask_hydra(socket, "cmd=get_maxes\n", "cmd=maxes");
    const auto words = fmt::format("cmd=abort exitcode={}\n", status);
    [[maybe_unused]] const auto written = write(socket, words.data(), words.size());
}

bool has_launcher() { return !launcher_above().empty() && !is_shell_of_step(); }

bool speaks_for_all() { return launch_environment().rank.value_or(0) == 0; }

void refuse_launcher(const std::string& command)
{
    if (launch_environment().size.value_or(1) > 1 && has_launcher())
        throw BadInput("quorate " + command + " is one process: start it without a launcher");
}

void forget_launcher() { forgotten = true; }

WithoutLauncher::WithoutLauncher()
{
    if (!forgotten) return;
    std::vector<std::string> names;
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view text = *variable;
        for (const std::string_view prefix : {"PMI", "MPI_LOCAL", "OMPI_", "ORTE_", "PRTE_"})
            if (text.starts_with(prefix)) names.emplace_back(text.substr(0, text.find('=')));
    }
    for (const auto& name : names) set(name, nullptr);
    // Of MPICH's UCX and of Open MPI, which would also start a daemon.
    set("UCX_TLS", "self");
    set("OMPI_MCA_pml", "ob1");
    set("OMPI_MCA_btl", "self");
    set("OMPI_MCA_ess_singleton_isolated", "1");
}

void WithoutLauncher::set(const std::string& name, const char* value)
{
    const char* const before = std::getenv(name.c_str());
    before_.try_emplace(name, before ? std::optional<std::string>(before) : std::nullopt);
    if (value)
        setenv(name.c_str(), value, 1);
    else
        unsetenv(name.c_str());
}

WithoutLauncher::~WithoutLauncher()
{
    for (const auto& [name, value] : before_)
        if (value)
            setenv(name.c_str(), value->c_str(), 1);
        else
            unsetenv(name.c_str());
}

void check_launch()
{
    if (forgotten) return;
    if (is_shell_of_step()) return forget_launcher();
    if (const auto what = left_over(); !what.empty()) {
        log(LogLevel::warning, what +
                                   ", but no launcher has started this process, so it is alone: "
                                   "unset the variables that begin with PMI and OMPI");
        return forget_launcher();
    }
    // Alone, it needs neither shared memory nor a port, on which UCX would listen for everybody.
    if (!launch_environment().size && launcher_above().empty()) return forget_launcher();
    const auto lack = lack_of_shared_memory();
    if (lack.empty()) return;
    // Of bad input only the first of all ranks prints a message, but its host may be another one.
    const auto first =
        number_in("MPI_LOCALRANKID").value_or(number_in("SLURM_LOCALID").value_or(0));
    if (first == 0 && !speaks_for_all()) log(LogLevel::error, lack);
    throw BadInput(lack);
}

}  // namespace quorate
