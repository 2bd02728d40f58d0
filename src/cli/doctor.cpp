// SPDX-License-Identifier: BSD-2-Clause
// quorate doctor: whether the ranks of a job and their hosts will do for a run.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "doctor/findings.hpp"
#include "doctor/world.hpp"
#include "jobs/manifest.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;

// Prints a table, unless it has no line but the titles.
void print(const std::vector<Cells>& lines)
{
    if (lines.size() > 1) fmt::print("{}\n", table(lines, "llllllll", 0, 80));
}

std::string gib(std::int64_t bytes)
{
    return figures(static_cast<double>(bytes) / (1024.0 * 1024 * 1024), 3);
}

void print_hosts(const DoctorFacts& facts)
{
    std::vector<Cells> lines = {
        {"host", "ranks", "cores", "free of GiB", "/dev/shm GiB", "files", "shares", "clock"}};
    for (const auto& [host, ranks] : hosts_of(facts)) {
        const auto& first = *ranks[0];
        std::int64_t free = 0, files = first.open_files_limit;
        bool shares = true;
        std::vector<std::int64_t> numbers;
        std::set<std::int64_t> cores;
        for (const auto* rank : ranks) {
            free = std::max(free, rank->free_memory);
            files = std::min(files, rank->open_files_limit);
            shares &= rank->shares;
            numbers.push_back(rank->rank);
            cores.insert(rank->cores.begin(), rank->cores.end());
        }
        lines.push_back(
            {host, ranges(numbers), fmt::format("{} of {}", cores.size(), first.machine_cores),
             gib(free) + " of " + gib(first.memory), gib(first.shm_free) + " of " + gib(first.shm),
             files < 0 ? "none" : std::to_string(files), shares ? "yes" : "no",
             fmt::format("{:.0f} ns", 1e9 * first.clock_resolution)});
    }
    print(lines);
}

void print_files(const DoctorFacts& facts)
{
    std::vector<Cells> lines = {{"file", "host", "use"}};
    for (const auto& rank : facts.ranks)
        for (const auto& file : rank.files)
            lines.push_back({file.path, rank.host,
                             !file.wrong.empty()      ? "no"
                             : file.option == "trace" ? gib(file.free) + " GiB free"
                                                      : "read"});
    print(lines);
}

// Of the first rank of each host; findings say where the others differ.
void print_torch(const DoctorFacts& facts)
{
    std::vector<Cells> lines = {{"host", "PyTorch", "built for", "threads", "GPUs"}};
    for (const auto& [host, ranks] : hosts_of(facts)) {
        const auto& torch = ranks[0]->torch;
        if (torch.version.empty()) continue;
        lines.push_back({host, torch.version, torch.platform.empty() ? "CPUs" : torch.platform,
                         std::to_string(torch.threads),
                         fmt::format("{} of {}", torch.gpus.size(), torch.installed)});
    }
    print(lines);
}

void print_facts(const DoctorFacts& facts)
{
    const auto hosts = hosts_of(facts).size();
    fmt::print("quorate {} ({}), {} rank{} on {} host{}\nMPI: {}\n", version, git_revision,
               facts.ranks.size(), facts.ranks.size() > 1 ? "s" : "", hosts, hosts > 1 ? "s" : "",
               facts.ranks[0].mpi);
    if (facts.parameters > 0)
        fmt::print("run: {} parameters, {} GiB of rows\n", facts.parameters,
                   gib(static_cast<std::int64_t>(facts.data_bytes)));
    fmt::print("\n");
    print_hosts(facts);
    print_torch(facts);
    print_files(facts);
}

int doctor(const Settings& settings)
{
    const auto facts = find_out(settings);
    if (!facts) return exit_done;
    const auto findings = judge(*facts);
    const bool fails = std::ranges::any_of(findings, &Finding::error);
    if (settings.on("json")) {
        Json all;
        all["facts"] = nlohmann::json(*facts);
        all["findings"] = Json::array();
        for (const auto& finding : findings)
            all["findings"].push_back(
                {{"kind", finding.error ? "error" : "warning"}, {"text", finding.text}});
        all["ready"] = !fails;
        fmt::print("{}\n", json_text(all));
        return fails ? exit_failed : exit_done;
    }
    if (!settings.on("quiet")) print_facts(*facts);
    std::fflush(stdout);
    for (const auto& finding : findings)
        log(finding.error ? LogLevel::error : LogLevel::warning, finding.text);
    if (!settings.on("quiet"))
        fmt::print("{}\n", fails              ? "a run would fail"
                           : findings.empty() ? "nothing speaks against a run"
                                              : "a run would work, but see the warnings");
    return fails ? exit_failed : exit_done;
}

}  // namespace

Command doctor_command()
{
    auto options = doctor_options();
    options.push_back({"json", "", "", "print all that was found as JSON"});
    return {
        .name = "doctor",
        .text = "checks hosts and ranks before a run; alone, or started as the run would be",
        .options = std::move(options),
        .run = doctor,
        .ranks = true,
        .examples = {"quorate doctor", std::string(launcher) + " -n 9 quorate doctor "
                                                               "--data data.h5 --trace frc.h5"}};
}

}  // namespace quorate
