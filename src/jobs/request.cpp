// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/build.hpp"
#include "base/host.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "jobs/units.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

constexpr double mib = 1024.0 * 1024, gib = 1024 * mib;

bool below(const std::string& path, const std::string& folder)
{
    if (folder.empty()) return false;
    const auto relative = fs::path(path).lexically_relative(fs::path(folder).lexically_normal());
    return !relative.empty() && *relative.begin() != "..";
}

// How many ranks fit on a node, by its cores. All threads of a rank are on the same node.
int ranks_of_a_node(const Profile& profile, int threads) { return *profile.cores / threads; }

// How many nodes have GPUs enough. Where each task is given some, the coordinator is, too.
int nodes_by_gpus(const Profile& profile, const Request& request)
{
    if (request.gpus_per_task == 0 || !profile.gpus) return 0;
    const int fit = std::max(1, *profile.gpus / request.gpus_per_task);
    const bool all = profile.gpu_request == GpuRequest::per_task;
    const int takers = all ? request.ranks : std::max(1, request.ranks - 1);
    return (takers + fit - 1) / fit;
}

std::string full_nodes(int count)
{
    return count == 1 ? "a full node" : fmt::format("{} full nodes", count);
}

std::string spoken_gpus(int count) { return fmt::format("{} GPU{}", count, count == 1 ? "" : "s"); }

class Checks {
public:
    Checks(const Request& request, const Profile& profile) : request_(request), profile_(profile) {}

    std::vector<Finding> all()
    {
        if (!profile_.tried)
            warn(
                "no run was made there yet, its documentation alone was read: begin with a short "
                "one");
        if (profile_.scheduler != Scheduler::hosts) {
            account();
            time();
            jobs();
            numbers();
            memory();
            mail();
        }
        nodes();
        gpus();
        folders();
        program();
        return std::move(findings_);
    }

private:
    template <class... Args>
    void error(fmt::format_string<Args...> text, Args&&... args)
    {
        findings_.push_back(
            {true, profile_.name + ": " + fmt::vformat(text, fmt::make_format_args(args...))});
    }
    template <class... Args>
    void warn(fmt::format_string<Args...> text, Args&&... args)
    {
        findings_.push_back(
            {false, profile_.name + ": " + fmt::vformat(text, fmt::make_format_args(args...))});
    }

    void account()
    {
        const auto theirs = environment("SBATCH_ACCOUNT");
        const bool none = request_.account.empty() && theirs.empty();
        if (none && profile_.account == Account::required)
            error("jobs need an account: give --account, as --account def-someone");
        if (none && profile_.account == Account::recommended)
            warn("those with several allocations must name one: give --account");
        if (!request_.account.empty() && !theirs.empty() && theirs != request_.account)
            warn("SBATCH_ACCOUNT is {} and wins over --account {}: unset it", theirs,
                 request_.account);
        if (!request_.partition.empty() && !profile_.time_classes.empty())
            warn("--partition is {}, but partitions are chosen by time here: leave it out",
                 request_.partition);
    }

    void time()
    {
        const double asked = request_.seconds;
        if (profile_.time_most && asked > *profile_.time_most)
            error("--time is {}, and jobs end after {}: ask for that, with --links {} to go on",
                  spoken_time(asked), spoken_time(*profile_.time_most),
                  static_cast<int>(std::ceil(asked / *profile_.time_most)));
        if (profile_.time_least && asked < *profile_.time_least)
            error("--time is {}, and jobs ask for {} at least: use that", spoken_time(asked),
                  spoken_time(*profile_.time_least));
        else if (request_.resumes && asked <= request_.stop_before)
            error(
                "--time is {}, and a run stops {} before its end: ask for more, or give another "
                "--stop-before",
                spoken_time(asked), spoken_time(request_.stop_before));
        for (const double limit : profile_.time_classes)
            if (asked > limit && asked <= 1.25 * limit)
                warn("--time is {}: jobs of up to {} start sooner, if that is enough",
                     spoken_time(asked), spoken_time(limit));
        if (request_.links > 1 && !request_.resumes)
            error("--links is {}, but not every run has a checkpoint to go on from: leave it out",
                  request_.links);
    }

    void jobs()
    {
        const auto last = request_.rows.empty() ? 0 : request_.rows.back();
        if (profile_.array_most && last > *profile_.array_most)
            error(
                "run {} would be an index above {} (MaxArraySize - 1): split the manifest, "
                "whose numbers may begin with 1 again in each",
                last, *profile_.array_most);
        // With data set and analysis.
        const auto jobs = std::ssize(request_.rows) * request_.links + 2;
        if (profile_.jobs_most && jobs > *profile_.jobs_most)
            error(
                "{} jobs would be submitted, and a user may have {}: submit fewer runs or links at "
                "a time",
                jobs, *profile_.jobs_most);
    }

    void numbers()
    {
        const auto& rows = request_.rows;
        if (profile_.scheduler == Scheduler::openpbs && !rows.empty() &&
            rows.back() - rows.front() >= std::ssize(rows))
            error(
                "arrays are ranges here, and the manifest has no runs of some numbers from {} to "
                "{}: number them without gaps",
                rows.front(), rows.back());
    }

    void memory()
    {
        if (request_.memory_given && profile_.memory_request == MemoryRequest::none)
            error("memory is not asked for here, a job has that of its nodes: leave out --memory");
        constexpr double least = 16 * mib;  // of a rank: the libraries take more
        if (request_.memory_given && request_.memory < least * request_.ranks)
            error(
                "--memory is {} MiB for {} ranks, and each takes more than {:.0f} MiB by "
                "itself: "
                "ask for more, as {:.0f}M",
                figures(request_.memory / mib, 3), request_.ranks, least / mib,
                request_.ranks * 256.0);
        if (!profile_.memory || request_.memory == 0) return;
        const double each = request_.memory / std::max(1, request_.nodes);
        if (each > *profile_.memory)
            error("{:.0f} GiB a node are needed, and a node has {:.0f} GiB: use --nodes {}",
                  std::ceil(each / gib), *profile_.memory / gib,
                  static_cast<int>(std::ceil(request_.memory / *profile_.memory)));
    }

    void mail()
    {
        if (!request_.mail.empty() && request_.mail.find('@') == std::string::npos)
            error("--mail is {}: give an address, or leave it out", plain(request_.mail));
    }

    void nodes()
    {
        const int nodes = request_.nodes;
        if (profile_.nodes && nodes > *profile_.nodes)
            error("{} nodes are asked for, and there are {}: use fewer ranks", nodes,
                  *profile_.nodes);
        else if (profile_.nodes_most && nodes > *profile_.nodes_most)
            error("{} nodes are asked for, and a job may have {}: use fewer ranks", nodes,
                  *profile_.nodes_most);
        if (profile_.whole_nodes && nodes == 0) error("jobs use full nodes: give --nodes");
        if (!profile_.cores) return;
        const int cores = *profile_.cores, threads = request_.threads;
        const int fit = ranks_of_a_node(profile_, threads);
        if (fit == 0)
            error("ranks have {} threads, and a node has {} cores: use threads = {} at most",
                  threads, cores, cores);
        else if (nodes > 0 && request_.per_node() > fit)
            error("{} ranks of {} threads do not fit on {} nodes of {} cores: use --nodes {}",
                  request_.ranks, threads, nodes, cores, (request_.ranks + fit - 1) / fit);
        else if (nodes > 0 && request_.ranks < nodes * fit && request_.gpus_per_task == 0)
            warn("{} of the {} cores of {} stay idle: use {} more workers in each run",
                 nodes * cores - request_.cores(), nodes * cores, full_nodes(nodes),
                 nodes * fit - request_.ranks);
        if (profile_.cores_per_cache && threads > 1 && *profile_.cores_per_cache % threads != 0 &&
            threads % *profile_.cores_per_cache != 0)
            warn(
                "--threads is {}, and {} cores share a cache: ranks would straddle two; use a "
                "divisor or a multiple",
                threads, *profile_.cores_per_cache);
    }

    void gpus()
    {
        const int each = request_.gpus_per_task, nodes = request_.nodes;
        if (each == 0) return;
        if (profile_.scheduler == Scheduler::hosts)
            error(
                "nobody gives out GPUs here, each worker takes one of its host in turn: leave out "
                "--gpus-per-task");
        else if (profile_.gpu_request == GpuRequest::none)
            error(
                "its nodes have no GPUs: leave out --gpus-per-task, or use a profile that says how "
                "they are asked for (gpu-request)");
        else if (profile_.gpus && each > *profile_.gpus)
            error("--gpus-per-task is {}, and a node has {}: use {} at most", each,
                  spoken_gpus(*profile_.gpus), *profile_.gpus);
        else if (const int needed = nodes_by_gpus(profile_, request_); nodes > 0 && needed > nodes)
            error("{} ranks with {} for each do not fit on {} nodes of {}: use --nodes {}",
                  request_.ranks, spoken_gpus(each), nodes, spoken_gpus(*profile_.gpus), needed);
        else if (profile_.whole_nodes && profile_.gpus && request_.kind == RunKind::run) {
            const int all = nodes * *profile_.gpus, idle = all - each * (request_.ranks - 1);
            if (idle >= each)
                warn("{} of the {} of {} stay idle: use {} more workers in each run", idle,
                     spoken_gpus(all), full_nodes(nodes), idle / each);
        }
    }

    void folders()
    {
        const auto scratch = profile_.scratch.empty() ? "" : environment(profile_.scratch.c_str());
        if (!scratch.empty() && !below(request_.folder, scratch))
            error("{} is not below ${} ({}), where jobs must be submitted: use --output {}/...",
                  request_.folder, profile_.scratch, scratch, scratch);
        else if (!profile_.scratch.empty() && scratch.empty())
            warn(
                "jobs must be submitted from below ${}, which is not set here: write there with "
                "--output",
                profile_.scratch);
        for (const auto& name : split(profile_.read_only, ' ')) {
            const auto folder = name.empty() ? "" : environment(name.c_str());
            if (below(request_.folder, folder) &&
                (scratch.empty() || !below(request_.folder, scratch)))
                error("{} is below ${}, which jobs cannot write: use another --output",
                      request_.folder, name);
        }
    }

    void program()
    {
        const auto wanted = profile_.mpi == "intelmpi" ? "mpich" : profile_.mpi;
        if (request_.kind == RunKind::run && !wanted.empty() && wanted != built_mpi())
            warn(
                "ranks are started with {}, and this program was built with {}: run quorate script "
                "with the one built there (MPI={})",
                profile_.mpi, built_mpi(), wanted);
        if (!profile_.instructions.empty() && built_instructions() > profile_.instructions &&
            built_instructions().starts_with("x86-64-v"))
            error(
                "its processors have {}, and this program was built for {}: build with "
                "OPT='-O3 -march={}'",
                profile_.instructions, built_instructions(), profile_.instructions);
    }

    const Request& request_;
    const Profile& profile_;
    std::vector<Finding> findings_;
};

}  // namespace

int Request::workers_per_node() const
{
    const int first = per_node();
    return std::max({1, first - 1, std::min(first, ranks - first)});
}

int nodes_for(const Profile& profile, const Request& request)
{
    if (profile.scheduler == Scheduler::hosts) return 0;
    const int by_gpus = nodes_by_gpus(profile, request);
    const bool named = request.gpus_per_task > 0 && profile.gpu_request == GpuRequest::per_node;
    const int least = named ? std::max(1, by_gpus) : 0;
    if (!profile.cores) return least;
    const int fit = std::max(1, ranks_of_a_node(profile, request.threads));
    if (!profile.whole_nodes && request.ranks < fit) return least;
    return std::max((request.ranks + fit - 1) / fit, by_gpus);
}

int gpus_per_node(const Profile& profile, const Request& request)
{
    return profile.whole_nodes && profile.gpus ? *profile.gpus
                                               : request.gpus_per_task * request.workers_per_node();
}

std::vector<Finding> check(const Request& request, const Profile& profile)
{
    return Checks(request, profile).all();
}

}  // namespace quorate
