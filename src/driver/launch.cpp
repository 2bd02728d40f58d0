// SPDX-License-Identifier: BSD-2-Clause
#include "driver/launch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "mpi/mpi.hpp"

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

}  // namespace

Launch launch_environment()
{
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
    if (size < 2)
        throw BadInput(fmt::format(
            "quorate run needs at least 2 ranks, a coordinator and a worker, and has {}: "
            "start it with {} -n 2 or more",
            size, launcher));
}

int hydra_socket()
{
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

void refuse_launcher(const std::string& command)
{
    if (launch_environment().size.value_or(1) > 1)
        throw BadInput("quorate " + command + " is one process: start it without a launcher");
}

}  // namespace quorate
