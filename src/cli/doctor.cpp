// SPDX-License-Identifier: BSD-2-Clause
// quorate doctor: whether the ranks of a job, their hosts and links will do for a run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "doctor/findings.hpp"
#include "doctor/world.hpp"
#include "jobs/manifest.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;
using Line = std::vector<std::string>;

constexpr std::size_t width = 80;

// Prints a table whose columns are as wide as what they hold. The first column is cut where a line
// would be too long.
void print_table(const std::vector<Line>& lines)
{
    if (lines.size() < 2) return;
    std::vector<std::size_t> widths(lines[0].size());
    for (const auto& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], line[i].size());
    std::size_t others = 0;
    for (std::size_t i = 1; i < widths.size(); ++i) others += widths[i] + 2;
    constexpr std::size_t least = 8;
    widths[0] = std::min(widths[0], std::max(least, width - std::min(width, others)));
    for (const auto& line : lines) {
        const bool fits = line[0].size() <= widths[0];
        auto text = fmt::format("{:<{}}", fits ? line[0] : line[0].substr(0, widths[0] - 1) + "~",
                                widths[0]);
        for (std::size_t i = 1; i < line.size(); ++i)
            text += fmt::format("  {:<{}}", line[i], widths[i]);
        text.erase(text.find_last_not_of(' ') + 1);
        fmt::print("{}\n", text);
    }
    fmt::print("\n");
}

std::string gib(std::int64_t bytes)
{
    return figures(static_cast<double>(bytes) / (1024.0 * 1024 * 1024), 3);
}

std::string limit(std::int64_t value) { return value < 0 ? "none" : std::to_string(value); }

std::string listed_numbers(const std::vector<std::int64_t>& numbers)
{
    return numbers.empty() ? "?" : ranges(numbers);
}

template <class Numbers>
std::vector<std::int64_t> united(const std::vector<const RankFacts*>& ranks, Numbers numbers)
{
    std::vector<std::int64_t> all;
    for (const auto* rank : ranks)
        all.insert(all.end(), numbers(*rank).begin(), numbers(*rank).end());
    std::ranges::sort(all);
    const auto twice = std::ranges::unique(all);
    all.erase(twice.begin(), twice.end());
    return all;
}

std::vector<std::int64_t> numbers_of(const std::vector<const RankFacts*>& ranks)
{
    std::vector<std::int64_t> all;
    for (const auto* rank : ranks) all.push_back(rank->rank);
    return all;
}

// "23-40" for the least and the most of some numbers, or one of them.
std::string span(std::vector<double> values, double unit, const char* name)
{
    std::erase(values, 0.0);
    if (values.empty()) return "-";
    const auto [least, most] = std::ranges::minmax(values);
    const auto low = figures(least / unit, 3), high = figures(most / unit, 3);
    return (low == high ? low : low + "-" + high) + " " + name;
}

void print_hosts(const DoctorFacts& facts)
{
    std::vector<Line> lines = {
        {"host", "ranks", "cores", "free of GiB", "/dev/shm GiB", "files", "shares", "clock"}};
    for (const auto& [host, ranks] : hosts_of(facts)) {
        const auto& first = *ranks[0];
        std::int64_t free = 0, files = first.open_files_limit;
        bool shares = true;
        for (const auto* rank : ranks) {
            free = std::max(free, rank->free_memory);
            files = std::min(files, rank->open_files_limit);
            shares &= rank->shares;
        }
        const auto cores = united(
            ranks, [](auto& rank) -> auto& { return rank.cores; });
        lines.push_back({host, ranges(numbers_of(ranks)),
                         fmt::format("{} of {}", cores.size(), first.machine_cores),
                         gib(free) + " of " + gib(first.memory),
                         gib(first.shm_free) + " of " + gib(first.shm), limit(files),
                         shares ? "yes" : "no",
                         fmt::format("{:.0f} ns", 1e9 * first.clock_resolution)});
    }
    print_table(lines);
}

// Prints ranks; those of a host with as many cores and the same NUMA nodes share a line unless `each`.
void print_ranks(const DoctorFacts& facts, bool each)
{
    std::map<int, const PingFacts*> pings;
    for (const auto& ping : facts.pings)
        if (ping.from == 0) pings[ping.to] = &ping;
    std::vector<Line> lines = {{"ranks", "host", "cores each", "NUMA", "ping", "bandwidth"}};
    for (const auto& [host, ranks] : hosts_of(facts)) {
        using Key = std::tuple<std::size_t, std::vector<std::int64_t>, int>;
        std::map<Key, std::vector<const RankFacts*>> alike;
        for (const auto* rank : ranks)
            alike[{rank->cores.size(), rank->numa,
                   each || rank->rank == 0 ? rank->rank : facts.size}]
                .push_back(rank);
        std::vector<std::vector<const RankFacts*>> groups;
        for (auto& [key, group] : alike) groups.push_back(std::move(group));
        std::ranges::sort(groups, {}, [](const auto& group) { return group[0]->rank; });
        for (const auto& group : groups) {
            std::vector<double> seconds, bandwidth;
            for (const auto* rank : group)
                if (const auto at = pings.find(rank->rank); at != pings.end()) {
                    seconds.push_back(at->second->seconds);
                    bandwidth.push_back(at->second->bandwidth);
                }
            const auto& own = group[0]->cores;
            const auto all = united(
                group, [](auto& rank) -> auto& { return rank.cores; });
            lines.push_back({ranges(numbers_of(group)), host,
                             own.size() == all.size()
                                 ? listed_numbers(own)
                                 : fmt::format("{} of {}", own.size(), listed_numbers(all)),
                             listed_numbers(group[0]->numa), span(seconds, 1e-6, "us"),
                             span(bandwidth, 1e6, "MB/s")});
        }
    }
    print_table(lines);
}

void print_files(const DoctorFacts& facts)
{
    std::vector<Line> lines = {{"file", "host", "file system", "use", "lock", "flush"}};
    for (const auto& rank : facts.ranks)
        for (const auto& file : rank.files) {
            const bool written = file.option == "trace", good = file.wrong.empty();
            lines.push_back({file.path, rank.host,
                             file.file_system.empty() ? "?" : file.file_system,
                             !good     ? "no"
                             : written ? gib(file.free) + " GiB free"
                                       : "read",
                             !good               ? "-"
                             : file.lock.empty() ? "yes"
                                                 : "no",
                             !good || !written    ? "-"
                             : file.flush.empty() ? "yes"
                                                  : "no"});
        }
    print_table(lines);
}

// Prints what hosts are apart: the pings between their first ranks.
void print_links(const DoctorFacts& facts)
{
    const auto hosts = hosts_of(facts);
    const auto host_of_first = [&](int rank) -> std::string {
        const auto at =
            std::ranges::find(hosts, rank, [](const HostRanks& one) { return one.ranks[0]->rank; });
        return at == hosts.end() ? "" : at->host;
    };
    std::vector<Line> lines = {{"hosts", "ping", "bandwidth", "clock"}};
    for (const auto& ping : facts.pings) {
        const auto from = host_of_first(ping.from), to = host_of_first(ping.to);
        if (from.empty() || to.empty()) continue;
        lines.push_back({fmt::format("{} - {}", from, to), span({ping.seconds}, 1e-6, "us"),
                         span({ping.bandwidth}, 1e6, "MB/s"),
                         fmt::format("{}{} s, to within {:.2g}", ping.clock_ahead < 0 ? "" : "+",
                                     figures(ping.clock_ahead, 3), ping.clock_error)});
    }
    print_table(lines);
}

std::string transport(const DoctorFacts& facts)
{
    std::string text;
    for (const auto& [name, value] : facts.ranks[0].environment)
        text += fmt::format(" {}={}", name, value);
    if (text.empty()) return "chosen by MPI, nothing in the environment says which";
    return text.substr(1) + (facts.resilient ? " (--resilient)" : "");
}

void print_facts(const DoctorFacts& facts, bool each)
{
    const auto hosts = hosts_of(facts).size();
    fmt::print("quorate {} ({}), {} rank{} on {} host{}\n", version, git_revision,
               facts.ranks.size(), facts.ranks.size() > 1 ? "s" : "", hosts, hosts > 1 ? "s" : "");
    fmt::print("MPI: {}\ntransport: {}\n", facts.ranks[0].mpi, transport(facts));
    if (facts.parameters > 0)
        fmt::print("run: {} parameters, {} GiB of rows\n", facts.parameters,
                   gib(static_cast<std::int64_t>(facts.data_bytes)));
    fmt::print("\n");
    print_hosts(facts);
    print_ranks(facts, each);
    print_files(facts);
    print_links(facts);
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
    if (!settings.on("quiet")) print_facts(*facts, settings.on("all"));
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
    options.push_back({"all", "", "", "a line for each rank; else those that are alike share one"});
    options.push_back({"json", "", "", "print all that was found as JSON"});
    return {
        .name = "doctor",
        .text = "checks hosts, ranks and links before a run; alone, or started as the run would be",
        .operand = "",
        .options = std::move(options),
        .run = doctor,
        .ranks = true};
}

}  // namespace quorate
