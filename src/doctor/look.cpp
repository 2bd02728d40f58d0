// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/look.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/path.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "jobs/manifest.hpp"
#include "run/output.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

const std::string of_cpus = "/sys/devices/system/cpu/";

// Reads a list of numbers as the kernel writes it: 0-3,8. Empty if there is none.
std::vector<std::int64_t> list_in(const std::string& path)
{
    const auto text = trimmed(first_line(path));
    if (text.empty()) return {};
    try {
        return numbers(text);
    } catch (const BadInput&) {
        return {};
    }
}

std::vector<std::int64_t> usable_cpus()
{
    // Large enough for any machine; the kernel refuses a set that is smaller than its own.
    constexpr int most = 8192;
    std::vector<cpu_set_t> set(most / (8 * sizeof(cpu_set_t)));
    const auto bytes = set.size() * sizeof(cpu_set_t);
    std::vector<std::int64_t> all;
    if (sched_getaffinity(0, bytes, set.data()) != 0) return all;
    for (int cpu = 0; cpu < most; ++cpu)
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.data())) all.push_back(cpu);
    return all;
}

// Returns the cores that hardware threads belong to; each is called by its first thread.
std::vector<std::int64_t> cores_of(const std::vector<std::int64_t>& cpus)
{
    std::set<std::int64_t> cores;
    for (const auto cpu : cpus) {
        const auto siblings =
            list_in(fmt::format("{}cpu{}/topology/thread_siblings_list", of_cpus, cpu));
        cores.insert(siblings.empty() ? cpu : siblings.front());
    }
    return {cores.begin(), cores.end()};
}

// Whose library that is, by the name of the file: mpich, openmpi, or empty for none.
std::string mpi_of_library(const std::string& name)
{
    // Of Intel's MPI and of MPICH's ABI the number is 12; Open MPI 4 and 5 have 40.
    if (name.starts_with("libmpich.so") || name.starts_with("libmpi.so.12")) return "mpich";
    if (name.starts_with("libopen-rte.so") || name.starts_with("libopen-pal.so") ||
        name.starts_with("libmpi.so.40"))
        return "openmpi";
    return "";
}

std::vector<std::string> loaded_mpis()
{
    std::set<std::string> found;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (const auto slash = line.rfind('/'); slash != std::string::npos)
            if (auto mpi = mpi_of_library(line.substr(slash + 1)); !mpi.empty())
                found.insert(std::move(mpi));
    return {found.begin(), found.end()};
}

// "MPICH Version: 4.0.2, MPICH Device: ch4:ucx"; the rest of the text is how it was built.
std::string mpi_library()
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string name, device;
    for (const auto& line : split(std::string(text, static_cast<std::size_t>(length)), '\n')) {
        std::string words;
        for (const char letter : line)
            if (letter != '\t' || !words.ends_with(' ')) words += letter == '\t' ? ' ' : letter;
        if (name.empty()) name = trimmed(words.substr(0, words.find(',')));
        if (words.starts_with("MPICH Device:")) device = trimmed(words.substr(13));
    }
    if (name.starts_with("MPICH Version:")) name = "MPICH " + trimmed(name.substr(14));
    return device.empty() ? name : name + ", " + device;
}

std::int64_t limit_of(int resource, bool most = false)
{
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return -1;
    const auto value = most ? limit.rlim_max : limit.rlim_cur;
    return value == RLIM_INFINITY ? -1 : static_cast<std::int64_t>(value);
}

std::string reason() { return std::strerror(errno); }

std::function<std::string()>& torch_look()
{
    static std::function<std::string()> look;
    return look;
}

}  // namespace

double wall_clock()
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::int64_t count_open_files()
{
    std::error_code error;
    fs::directory_iterator at("/proc/self/fd", error);
    if (error) return -1;
    // The iterator has the folder open, too.
    return std::distance(begin(at), end(at)) - 1;
}

RankFacts look_at_host()
{
    RankFacts facts;
    facts.host = host_name();
    facts.program = fmt::format("{} ({})", built_with, git_revision);
    facts.mpi = mpi_library();
    facts.mpis = loaded_mpis();
    facts.cores = cores_of(usable_cpus());
    facts.machine_cores = std::ssize(cores_of(list_in(of_cpus + "online")));
    facts.memory = host_memory();
    facts.free_memory = free_memory();
    struct statvfs shm {};
    if (statvfs("/dev/shm", &shm) == 0) {
        facts.shm = static_cast<std::int64_t>(shm.f_blocks * shm.f_frsize);
        facts.shm_free = static_cast<std::int64_t>(shm.f_bavail * shm.f_frsize);
    }
    facts.open_files_limit = limit_of(RLIMIT_NOFILE);
    facts.open_files_most = limit_of(RLIMIT_NOFILE, true);
    facts.file_size_limit = limit_of(RLIMIT_FSIZE);
    timespec step{};
    if (clock_getres(CLOCK_MONOTONIC, &step) == 0)
        facts.clock_resolution =
            static_cast<double>(step.tv_sec) + 1e-9 * static_cast<double>(step.tv_nsec);
    facts.clock_source =
        first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    return facts;
}

void look_at_torch_with(std::function<std::string()> look) { torch_look() = std::move(look); }

TorchFacts look_at_torch()
{
    if (!torch_look()) return {};
    return nlohmann::json::parse(torch_look()()).get<TorchFacts>();
}

FileFacts try_reading(const std::string& option, const std::string& path)
{
    FileFacts facts{option, path};
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        facts.wrong = "it is no file; give one that can be read there";
    else if (!std::ifstream(path))
        facts.wrong = cannot_open(path);
    else
        facts.bytes = static_cast<std::int64_t>(fs::file_size(path, error));
    return facts;
}

FileFacts try_writing(const std::string& option, const std::string& path)
{
    FileFacts facts{option, path};
    try {
        check_writable(path, option);
    } catch (const BadInput& wrong) {
        // It says the option and its value, as the judge does.
        const std::string text = wrong.what(), before = fmt::format("--{} is {}, ", option, path);
        facts.wrong = text.starts_with(before) ? text.substr(before.size()) : text;
        return facts;
    }
    const auto folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
    struct statvfs about {};
    if (statvfs(folder.c_str(), &about) == 0)
        facts.free = static_cast<std::int64_t>(about.f_bavail * about.f_frsize);
    std::string beside = path + ".XXXXXX";
    const int file = mkstemp(beside.data());
    constexpr std::string_view words = "quorate doctor\n";
    if (file < 0 || write(file, words.data(), words.size()) != std::ssize(words) ||
        fsync(file) != 0)
        facts.wrong =
            "which cannot be written to disk: " + reason() + "; make room, or give another file";
    if (file < 0) return facts;
    close(file);
    unlink(beside.c_str());
    return facts;
}

std::string own_launcher() { return launcher; }

std::vector<LauncherFacts> launchers_in_path()
{
    std::vector<std::string> names = {"mpiexec", "mpirun"};
    if (std::ranges::find(names, launcher) == names.end()) names.emplace_back(launcher);
    std::vector<LauncherFacts> found;
    for (const auto& name : names) {
        const auto ended = run_program({"timeout", "5", name, "--version"});
        if (ended.status == 127) continue;
        const auto has = [&](const char* word) {
            return ended.output.find(word) != std::string::npos;
        };
        found.push_back({name, has("HYDRA") || has("Intel(R) MPI")                 ? "mpich"
                               : has("Open MPI") || has("OpenRTE") || has("PRRTE") ? "openmpi"
                                                                                   : ""});
    }
    return found;
}

}  // namespace quorate
