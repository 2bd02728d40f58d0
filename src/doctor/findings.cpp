// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "doctor/torch_findings.hpp"
#include "jobs/manifest.hpp"

namespace quorate {

std::vector<HostRanks> hosts_of(const DoctorFacts& facts)
{
    std::vector<HostRanks> all;
    for (const auto& rank : facts.ranks) {
        auto host = std::ranges::find(all, rank.host, &HostRanks::host);
        if (host == all.end()) host = all.insert(all.end(), {rank.host, {}});
        host->ranks.push_back(&rank);
    }
    return all;
}

std::string spoken(const std::vector<std::int64_t>& ranks)
{
    return (ranks.size() == 1 ? "rank " : "ranks ") + ranges(ranks);
}

namespace {

constexpr std::int64_t mib = std::int64_t{1024} * 1024;

std::string gib(double bytes) { return fmt::format("{:.3g} GiB", bytes / (1024.0 * mib)); }

std::string spoken_ranks(const std::vector<const RankFacts*>& ranks)
{
    std::vector<std::int64_t> numbers;
    for (const auto* rank : ranks) numbers.push_back(rank->rank);
    return spoken(numbers);
}

// Threads of a rank: those that the user speaks of, or more if PyTorch takes more.
std::size_t threads_of(const DoctorFacts& facts, const HostRanks& host)
{
    std::int64_t most = facts.threads;
    for (const auto* rank : host.ranks) most = std::max(most, rank->torch.threads);
    return static_cast<std::size_t>(most);
}

class Judge {
public:
    explicit Judge(const DoctorFacts& facts) : facts_(facts), hosts_(hosts_of(facts)) {}

    std::vector<Finding> all()
    {
        world();
        libraries();
        for (const auto& host : hosts_) {
            cores(host);
            shared_memory(host);
            memory(host);
            limits(host);
            for (const auto* rank : host.ranks)
                for (const auto& file : rank->files) look_at(file, host.host);
        }
        same_data();
        clocks();
        std::ranges::move(judge_torch(facts_), std::back_inserter(findings_));
        std::ranges::stable_partition(findings_, &Finding::error);
        return std::move(findings_);
    }

private:
    template <class... Args>
    void error(fmt::format_string<Args...> text, Args&&... args)
    {
        findings_.push_back({true, fmt::vformat(text, fmt::make_format_args(args...))});
    }
    template <class... Args>
    void warn(fmt::format_string<Args...> text, Args&&... args)
    {
        findings_.push_back({false, fmt::vformat(text, fmt::make_format_args(args...))});
    }

    void world()
    {
        if (!facts_.world.empty()) error("{}", facts_.world);
        if (!facts_.silent.empty())
            error(
                "{} of {} did not answer in time: look whether that host is up, and let its "
                "ranks reach rank 0 (firewall, network interface), or give a longer --timeout",
                spoken(std::vector<std::int64_t>(facts_.silent.begin(), facts_.silent.end())),
                facts_.size);
        // What is wrong with the launcher that was used, the world says.
        if (facts_.launched) return;
        for (const auto& one : facts_.launchers)
            if (!one.mpi.empty() && one.mpi != facts_.built_mpi)
                warn(
                    "{} in the PATH is that of {}, and this program was built with {}: start runs "
                    "with {}",
                    one.name, one.mpi, facts_.built_mpi, facts_.launcher);
        if (std::ranges::find(facts_.launchers, facts_.launcher, &LauncherFacts::name) ==
            facts_.launchers.end())
            warn(
                "{}, the launcher of this build, is not in the PATH: install it, or load its "
                "module; srun does without",
                facts_.launcher);
    }

    void libraries()
    {
        const auto& first = facts_.ranks.front();
        for (const auto& rank : facts_.ranks) {
            if (rank.mpis.size() > 1)
                error(
                    "rank {} on {} has loaded the libraries of two MPIs, {} and {}: build HDF5, "
                    "PETSc and Quorate with the same one, or mend LD_LIBRARY_PATH",
                    rank.rank, rank.host, rank.mpis[0], rank.mpis[1]);
            else if (!rank.mpis.empty() && rank.mpis[0] != facts_.built_mpi)
                error(
                    "rank {} on {} has loaded {}, and the program was built with {}: mend "
                    "LD_LIBRARY_PATH, or load the module of the build",
                    rank.rank, rank.host, rank.mpis[0], facts_.built_mpi);
            else if (rank.program != first.program)
                error(
                    "rank {} on {} runs another build ({}) than rank 0 ({}): install the same "
                    "one on all hosts",
                    rank.rank, rank.host, rank.program, first.program);
            else if (rank.mpi != first.mpi)
                warn("rank {} on {} has {}, and rank 0 has {}: install the same one on all hosts",
                     rank.rank, rank.host, rank.mpi, first.mpi);
            else
                continue;
            return;  // the others of that host would say the same
        }
    }

    // How to give each rank cores of its own.
    std::string binding(std::size_t threads) const
    {
        const auto each = threads > 1 ? fmt::format(":{}", threads) : "";
        return facts_.built_mpi == "openmpi"
                   ? fmt::format("--bind-to core --map-by slot:pe={}", threads)
                   : "-bind-to core" + each;
    }

    void cores(const HostRanks& host)
    {
        const auto threads = threads_of(facts_, host);
        std::map<std::vector<std::int64_t>, std::vector<const RankFacts*>> by_cores;
        std::set<std::int64_t> usable;
        for (const auto* rank : host.ranks) {
            by_cores[rank->cores].push_back(rank);
            usable.insert(rank->cores.begin(), rank->cores.end());
        }
        const auto wanted = host.ranks.size() * threads;
        const auto each = threads > 1 ? fmt::format(" of {} threads", threads) : "";
        if (by_cores.size() > 1)
            for (const auto& [cores, ranks] : by_cores)
                if (ranks.size() * threads > cores.size()) {
                    const bool several = ranks.size() > 1;
                    warn(
                        "host {}: {}{} {} bound to core{} {}{}: they take turns there; start the "
                        "ranks with {}, or srun --cpus-per-task={} --cpu-bind=cores",
                        host.host, spoken_ranks(ranks), each, several ? "are" : "is",
                        cores.size() > 1 ? "s" : "", ranges(cores), several ? " together" : "",
                        binding(threads), threads);
                    return;
                }
        if (wanted > usable.size()) {
            const bool more = host.ranks[0]->machine_cores > std::ssize(usable);
            warn(
                "host {}: {} rank{}{} share {} core{}{}: times of rounds will not be those of the "
                "workers; start {} there, or ask for more cores{}",
                host.host, host.ranks.size(), host.ranks.size() > 1 ? "s" : "", each, usable.size(),
                usable.size() > 1 ? "s" : "",
                more ? fmt::format(" of the machine's {}", host.ranks[0]->machine_cores) : "",
                std::max<std::size_t>(1, usable.size() / threads),
                more ? ", or bind ranks to more: " + binding(threads) : "");
            return;
        }
        if (host.ranks.size() < 2) return;
        for (const auto& [cores, ranks] : by_cores)
            if (ranks.size() > 1) {
                warn(
                    "host {}: {} are not bound, each may use cores {}: the system moves them "
                    "about; start them with {}, or srun --cpus-per-task={} --cpu-bind=cores",
                    host.host, spoken_ranks(ranks), ranges(cores), binding(threads), threads);
                return;
            }
    }

    void shared_memory(const HostRanks& host)
    {
        std::vector<const RankFacts*> apart;
        for (const auto* rank : host.ranks)
            if (!rank->shares) apart.push_back(rank);
        if (!apart.empty() && facts_.size > 1)
            warn(
                "host {}: {} cannot share memory with rank {}: points and contributions travel in "
                "messages; give all ranks of the host one container and one user, or let "
                "/proc/PID/fd be opened (ptrace_scope, hidepid)",
                host.host, spoken_ranks(apart), host.ranks[0]->rank);
        // A resilient run has MPI use TCP.
        const auto ranks =
            std::max<std::ptrdiff_t>(facts_.launched ? 1 : 2, std::ssize(host.ranks));
        const auto needed = 8 * mib * ranks;
        const auto& first = *host.ranks[0];
        if (ranks > 1 && !facts_.resilient && first.shm_free < needed)
            warn(
                "host {}: /dev/shm has {} MiB left, and MPI takes up to {} MiB there for {} ranks: "
                "make it larger (docker --shm-size, mount -o remount,size=), or have MPI use TCP "
                "({})",
                host.host, first.shm_free / mib, needed / mib, ranks,
                facts_.built_mpi == "openmpi" ? "OMPI_MCA_btl=tcp,self" : "UCX_TLS=tcp,self");
    }

    // What a run takes at least: its share of the rows, the newest points and, for each worker, two
    // vectors of the model's size.
    void memory(const HostRanks& host)
    {
        if (facts_.parameters == 0) return;
        const bool coordinator = host.ranks[0]->rank == 0;
        const double all = std::max(1, facts_.size - 1);
        const double here =
            facts_.size == 1 ? 1 : static_cast<double>(host.ranks.size()) - (coordinator ? 1 : 0);
        const double vector = 8.0 * static_cast<double>(facts_.parameters);
        const double needed =
            facts_.data_bytes * here / all + vector * (2 * here + (coordinator ? 4 : 0));
        double free = 0;
        for (const auto* rank : host.ranks)
            free = std::max(free, static_cast<double>(rank->free_memory));
        if (needed > free)
            error(
                "host {}: a run takes {} there at least, and {} are free: ask for more memory, "
                "or spread the ranks over more hosts",
                host.host, gib(needed), gib(free));
        else if (2 * needed > free)
            warn(
                "host {}: a run takes {} there at least, twice that with a code that stores rows "
                "twice, and {} are free: ask for more memory, or more hosts",
                host.host, gib(needed), gib(free));
    }

    void limits(const HostRanks& host)
    {
        constexpr std::int64_t own = 32;  // trace, checkpoint, data set, libraries
        for (const auto* rank : host.ranks) {
            // The coordinator opens two shared files a rank of its host.
            const auto more = own + (rank->rank == 0 ? 2 * std::ssize(host.ranks) : 2);
            const auto needed = rank->open_files + more;
            if (rank->open_files_limit < 0 || rank->open_files_limit >= needed) continue;
            const bool hard = rank->open_files_most >= 0 && rank->open_files_most < needed;
            error("rank {} on {} may open {} files, and a run needs {}: {}", rank->rank, rank->host,
                  rank->open_files_limit, needed,
                  hard ? "have the limit raised (nofile in limits.conf), or start fewer ranks"
                       : fmt::format("write ulimit -n {} before the launcher", needed));
            break;
        }
        const auto size = host.ranks[0]->file_size_limit;
        if (size >= 0 && size < 1024 * mib && host.ranks[0]->rank == 0)
            warn(
                "rank 0 on {} may write files of {} MiB at most, and a trace may become longer: "
                "write ulimit -f unlimited before the launcher",
                host.host, size / mib);
    }

    void look_at(const FileFacts& file, const std::string& host)
    {
        if (!file.wrong.empty()) {
            error("host {}: --{} is {}: {}", host, file.option, file.path, file.wrong);
            return;
        }
        constexpr std::int64_t little = 100 * mib;
        if (file.option == "trace" && file.free < little)
            warn(
                "host {}: --trace is {}, where {} MiB are free: make room, or give a file "
                "elsewhere",
                host, file.path, file.free / mib);
    }

    void same_data()
    {
        const FileFacts* first = nullptr;
        for (const auto& host : hosts_)
            for (const auto* rank : host.ranks)
                for (const auto& file : rank->files) {
                    if (file.option != "data" || !file.wrong.empty()) continue;
                    if (!first) first = &file;
                    if (file.bytes == first->bytes) continue;
                    error(
                        "host {}: --data is {}, which has {} bytes there and {} on {}: share the "
                        "folder, or copy the file",
                        host.host, file.path, file.bytes, first->bytes, hosts_[0].host);
                    return;
                }
    }

    void clocks()
    {
        constexpr double coarse = 1e-5;
        for (const auto& host : hosts_)
            if (host.ranks[0]->clock_resolution > coarse)
                warn(
                    "host {}: the clock has steps of {:.2g} s, too long for the times of a round: "
                    "have the kernel use another clock source (now {})",
                    host.host, host.ranks[0]->clock_resolution, host.ranks[0]->clock_source);
        for (const auto& host : hosts_) {
            const auto& first = *host.ranks[0];
            if (std::abs(first.clock_ahead) <= 1) continue;
            warn(
                "host {}: its clock is {:.1f} s {} that of {}: runs do not mind, dates of files "
                "and logs do; have both take their time from a server (chrony)",
                host.host, std::abs(first.clock_ahead),
                first.clock_ahead > 0 ? "ahead of" : "behind", hosts_[0].host);
        }
    }

    const DoctorFacts& facts_;
    std::vector<HostRanks> hosts_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> judge(const DoctorFacts& facts) { return Judge(facts).all(); }

}  // namespace quorate
