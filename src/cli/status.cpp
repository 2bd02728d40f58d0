// SPDX-License-Identifier: BSD-2-Clause
// quorate status and quorate cancel: what has become of the runs of a manifest, and an end to them.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "jobs/queue.hpp"
#include "jobs/status.hpp"
#include "jobs/units.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr RunStage stages[] = {RunStage::completed, RunStage::running, RunStage::queued,
                               RunStage::failed, RunStage::left};

// The path of the manifest that the operand names: itself, or that of a folder.
std::string manifest_of(const Settings& settings)
{
    const auto& path = settings.text("MANIFEST");
    return fs::is_directory(path) ? (fs::path(path) / "manifest.tsv").string() : path;
}

// Returns what a function makes of a value, or a dash if it is not known.
template <class T>
std::string shown(const std::optional<T>& value, const auto& write)
{
    return value ? write(*value) : std::string("-");
}

std::string in_hours(double hours) { return figures(hours, 3); }

// Adds what is known of it over all runs; nothing if it is not known of any.
std::optional<double> sum(const std::vector<RunStatus>& runs,
                          std::optional<double> RunStatus::*value)
{
    std::optional<double> total;
    for (const auto& run : runs)
        if (run.*value) total = total.value_or(0) + *(run.*value);
    return total;
}

std::optional<double> longest(const std::vector<RunStatus>& runs)
{
    std::optional<double> most;
    for (const auto& run : runs)
        if (run.seconds_left) most = std::max(most.value_or(0), *run.seconds_left);
    return most;
}

// The last one is the run's name.
Cells cells_of(const RunStatus& run)
{
    auto name = fs::path(run.trace).stem().string();
    // The number that begins the name stands in the first column.
    if (const auto number = fmt::format("{}-", run.run); name.starts_with(number))
        name.erase(0, number.size());
    return {std::to_string(run.run),
            to_string(run.stage),
            fmt::format("{}/{}", run.rounds,
                        shown(run.rounds_wanted, [](auto n) { return std::to_string(n); })),
            shown(run.loss, [](double loss) { return fmt::format("{:.4g}", loss); }),
            shown(run.seconds_left, spoken_time),
            shown(run.core_hours, in_hours),
            shown(run.core_hours_left, in_hours),
            name};
}

// Prints why a run failed, in one line that fits unless the log's path alone is too long.
void print_failure(const RunStatus& run, std::size_t width)
{
    const auto log = run.log.empty() ? "" : fmt::format(" ({})", run.log);
    constexpr std::size_t before = 5, least = 30;
    const auto room = std::max(width, before + log.size() + least) - before - log.size();
    auto reason = run.reason;
    if (reason.size() > room) reason = reason.substr(0, room - 3) + "...";
    fmt::print("{:>3}  {}{}\n", run.run, harmless(reason), log);
}

// Returns the numbers of the runs with each value of a member.
template <class T>
std::map<T, std::vector<std::int64_t>> runs_by(T RunStatus::*member,
                                               const std::vector<RunStatus>& runs)
{
    std::map<T, std::vector<std::int64_t>> all;
    for (const auto& run : runs) all[run.*member].push_back(run.run);
    return all;
}

// Prints what runs have in common, and their numbers.
void print_runs(const std::string& words, const std::vector<std::int64_t>& runs, std::size_t width)
{
    const auto list = boost::replace_all_copy(ranges(runs), ",", ", ");  // where a line may break
    const auto room = std::max<std::size_t>(width, 40) - words.size();
    fmt::print("{}{}\n", words, wrapped(list, room, words.size()));
}

// Prints all runs, or if they are many only those that somebody may look for.
// @param all  whether to print each of them anyhow
void print_status(const ManifestStatus& status, bool all, std::size_t width)
{
    constexpr std::size_t many = 40;
    const bool each = all || status.runs.size() <= many;
    const auto staged = runs_by(&RunStatus::stage, status.runs);
    std::vector<Cells> lines = {
        {"run", "state", "rounds", "loss", "left", "core-h", "needed", "name"}};
    for (const auto& run : status.runs)
        if (each || run.stage == RunStage::running || run.stage == RunStage::failed)
            lines.push_back(cells_of(run));
    fmt::print("{}", table(lines, "rlrrrrrl", 7, width));
    if (!each)
        for (const auto stage : {RunStage::completed, RunStage::queued, RunStage::left})
            if (const auto at = staged.find(stage); at != staged.end())
                print_runs(fmt::format("{:<9}  ", to_string(stage)), at->second, width);
    if (staged.contains(RunStage::failed)) fmt::print("why runs failed:\n");
    for (const auto& run : status.runs)
        if (run.stage == RunStage::failed) print_failure(run, width);
    for (const auto& [lost, some] : runs_by(&RunStatus::lost, status.runs))
        if (lost > 0)
            print_runs(fmt::format("runs that lost {} worker{}: ", lost, lost == 1 ? "" : "s"),
                       some, width);
    std::set<std::string> reasons;
    for (const auto& run : status.runs)
        if (run.stage == RunStage::queued && !run.reason.empty()) reasons.insert(run.reason);
    for (const auto& reason : reasons) fmt::print("queued for: {}\n", reason);
    std::string counts;
    for (const auto& [stage, runs] : staged)
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", runs.size(), to_string(stage));
    fmt::print("{} run{}: {}\n", status.runs.size(), status.runs.size() == 1 ? "" : "s", counts);
    const auto& runs = status.runs;
    fmt::print("core-hours: {} spent", shown(sum(runs, &RunStatus::core_hours), in_hours));
    if (const auto needed = sum(runs, &RunStatus::core_hours_left))
        fmt::print(", {} still needed", in_hours(*needed));
    if (const auto most = longest(runs)) fmt::print("; longest run: {} left", spoken_time(*most));
    fmt::print("\n");
    if (!status.no_queue.empty() && status.no_queue != "no job is recorded")
        fmt::print("the queue does not answer, so this is by the traces alone: {}\n",
                   status.no_queue);
}

Json words(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json as_json(const ManifestStatus& status, const std::string& path)
{
    Json runs = Json::array(), counts;
    auto staged = runs_by(&RunStatus::stage, status.runs);
    for (const auto stage : stages) counts[to_string(stage)] = staged[stage].size();
    for (const auto& run : status.runs)
        runs.push_back({{"run", run.run},
                        {"state", to_string(run.stage)},
                        {"trace", run.trace},
                        {"rounds", run.rounds},
                        {"rounds_wanted", run.rounds_wanted ? Json(*run.rounds_wanted) : Json()},
                        {"loss", json_number<Json>(run.loss)},
                        {"lost_workers", run.lost},
                        {"seconds_left", json_number<Json>(run.seconds_left)},
                        {"core_hours", json_number<Json>(run.core_hours)},
                        {"core_hours_left", json_number<Json>(run.core_hours_left)},
                        {"reason", words(run.reason)},
                        {"log", words(run.log)}});
    const auto& all = status.runs;
    return {{"manifest", path},
            {"queue_error", words(status.no_queue)},
            {"runs", runs},
            {"total",
             {{"runs", counts},
              {"seconds_left", json_number<Json>(longest(all))},
              {"core_hours", json_number<Json>(sum(all, &RunStatus::core_hours))},
              {"core_hours_left", json_number<Json>(sum(all, &RunStatus::core_hours_left))}}}};
}

std::size_t terminal_width()
{
    winsize size{};
    constexpr std::size_t usual = 80;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

// Whether a run may still go on by itself.
bool is_under_way(const ManifestStatus& status)
{
    return std::ranges::any_of(status.runs, [](const auto& run) {
        return run.stage == RunStage::running || run.stage == RunStage::queued;
    });
}

int show_status(const Settings& settings)
{
    const auto path = manifest_of(settings);
    const auto every = to_duration(settings.text("every"));
    if (!every || *every < 0.1 || *every > 3600) settings.refuse("every", ": write 0.1s to 1h");
    if (settings.on("json") && settings.on("watch"))
        settings.refuse("watch", ", but --json is printed once: leave out one of the two");
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    // Between two runs of a script that makes one after the other nothing runs for a moment.
    for (int idle = 0;;) {
        const auto status = status_of(Manifest::read(path), path);
        if (settings.on("json")) {
            fmt::print("{}\n", json_text(as_json(status, path)));
            return exit_done;
        }
        if (settings.on("watch") && terminal) fmt::print("\x1b[H\x1b[J");
        print_status(status, settings.on("all"), terminal_width());
        std::fflush(stdout);
        const bool done = std::ranges::all_of(
            status.runs, [](const auto& run) { return run.stage == RunStage::completed; });
        idle = is_under_way(status) ? 0 : idle + 1;
        if (!settings.on("watch") || done || idle > 1) return exit_done;
        std::this_thread::sleep_for(std::chrono::duration<double>(*every));
        if (!terminal) fmt::print("\n");
    }
}

int cancel(const Settings& settings)
{
    const auto path = manifest_of(settings);
    const auto manifest = Manifest::read(path);
    const auto folder = fs::path(path).parent_path().string();
    const auto jobs = submitted_jobs(folder.empty() ? "." : folder);
    std::map<std::string, std::set<std::int64_t>> rows;
    try {
        for (const auto& job : jobs_in_queue(jobs)) rows[job.id].insert(job.row);
        // Jobs that wait for others go first, or they would begin when those have ended.
        std::vector<SubmittedJob> there;
        for (auto job = jobs.rbegin(); job != jobs.rend(); ++job)
            if (rows.contains(job->id)) there.push_back(*job);
        cancel_jobs(there);
    } catch (const Failure& failed) {
        throw Failure(fmt::format("{}; quorate status tells what is queued now", failed.what()));
    }
    for (const auto& job : jobs) {
        if (!rows.contains(job.id)) continue;
        const auto& some = rows[job.id];
        const auto which = ranges({some.begin(), some.end()});
        fmt::print(
            "cancelled {} ({}{})\n", job.id, job.script,
            job.rows.empty() ? "" : fmt::format(", run{} {}", some.size() > 1 ? "s" : "", which));
    }
    if (rows.empty()) fmt::print("nothing to cancel: no job of {} is queued or running\n", path);
    return exit_done;
}

}  // namespace

Command status_command()
{
    return {"status",
            "state of the runs of a manifest, from their traces and the queue",
            "MANIFEST",
            {{"watch", "", "", "show it anew until nothing is queued or running"},
             {"every", "TIME", "10s", "with --watch, so often"},
             {"all", "", "",
              "a line for each run, also if there are more than 40; else those that run or failed"},
             {"json", "", "", "print all of it as JSON"}},
            show_status};
}

Command cancel_command()
{
    return {"cancel",
            "cancels the jobs of a manifest that quorate submit has queued",
            "MANIFEST",
            {},
            cancel};
}

}  // namespace quorate
