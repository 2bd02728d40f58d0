// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/log_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "trace/run_state.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

// Whether a line is one that a run prints as it begins or goes on, or the answer of quorate todo.
bool is_progress(const std::string& line)
{
    const auto begins = [&](const char* words) { return line.starts_with(words); };
    const auto ends = [&](const char* words) { return line.ends_with(words); };
    return begins("round ") || begins("quorate: warning: ") || begins("quorate: worker ") ||
           begins("quorate: memory: ") || begins("quorate: going on after ") ||
           ends(" yet: the run begins") || ends("; the run goes on") ||
           ends(", the one before it") ||
           line.find(" nodes: contributions are added up ") != std::string::npos ||
           line == to_string(RunState::complete) || line == to_string(RunState::partial) ||
           line == to_string(RunState::absent);
}

// Whether it is one of the lines that launchers put around what they say.
bool is_frame(const std::string& line)
{
    return line.starts_with("=====") || line.starts_with("-----") ||
           line.starts_with("=   CLEANING UP ") || line.starts_with("=   YOU CAN IGNORE ") ||
           line.starts_with("This typically refers to ") || line.starts_with("Please see the FAQ ");
}

// Whether Hydra, Open MPI or srun says in it that a signal has ended a process.
bool is_of_signal(const std::string& line)
{
    const auto has = [&](const char* words) { return line.find(words) != std::string::npos; };
    return (has("TERMINATED WITH THE EXIT STRING: ") && has("signal")) ||
           has(" exited on signal ") ||
           (line.starts_with("srun: error: ") && has(": task") && !has("xit"));
}

// Whether it is another line in which they say how processes ended, or why they did not begin.
bool is_of_launcher(const std::string& line)
{
    return line.starts_with("srun: error: ") || line.starts_with("=   EXIT CODE: ") ||
           line.starts_with("Exit code: ") || line.starts_with("[proxy:") ||
           line.starts_with("[mpiexec@");
}

// What Hydra says, without the words that it has for all runs, which leave a table no room for the
// rest.
std::string in_short(const std::string& line)
{
    for (const std::string frame : {"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ", "=   "})
        if (line.starts_with(frame)) return "launcher: " + line.substr(frame.size());
    return line;
}

// What a log says, by who says it. Of launchers the first line, which is of the cause.
struct Sayings {
    std::string ours, failure, scheduler, signal, launcher, last;

    void add(const std::string& line)
    {
        last = line;
        if (line.starts_with("quorate[")) failure = line;
        if (line.starts_with("quorate: ") || line.starts_with("quorate[")) ours = line;
        if (line.starts_with("slurmstepd: error: ") || line.starts_with("=>> PBS: "))
            scheduler = line;
        if (signal.empty() && is_of_signal(line)) signal = in_short(line);
        if (launcher.empty() && is_of_launcher(line)) launcher = in_short(line);
    }
};

}  // namespace

JobLogs::JobLogs(std::string folder) : folder_(std::move(folder))
{
    std::vector<std::pair<fs::file_time_type, std::string>> logs;
    std::error_code error;
    for (const auto& file : fs::directory_iterator(folder_.empty() ? "." : folder_, error))
        if (file.path().extension() == ".log")
            logs.emplace_back(file.last_write_time(error), file.path().filename().string());
    std::ranges::sort(logs);
    for (auto& [time, name] : logs) names_.push_back(std::move(name));
}

std::string JobLogs::of(const std::vector<SubmittedJob>& jobs, std::int64_t row) const
{
    for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
        if (!std::ranges::binary_search(job->rows, row)) continue;
        const auto end = job->scheduler == Scheduler::slurm
                             ? fmt::format(".{}_{}.log", job->id, row)
                             : fmt::format(".{}.log", row);
        const auto newest = std::find_if(names_.rbegin(), names_.rend(),
                                         [&](const auto& name) { return name.ends_with(end); });
        if (newest != names_.rend()) return (fs::path(folder_) / *newest).string();
    }
    return "";
}

std::string reason_in(const std::string& log, bool told)
{
    constexpr std::streamoff most = 1 << 16;
    std::ifstream file(log, std::ios::binary | std::ios::ate);
    file.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(file.tellg()) - most));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    Sayings said;
    for (const auto& piece : split(text, '\n')) {
        // What a terminal would show of a line that was written over and over.
        const auto line = trimmed(split(trimmed(piece), '\r').back());
        if (!line.empty() && !is_progress(line) && !is_frame(line)) said.add(line);
    }
    // A run that was ended from outside has said nothing of it: its last message is of something
    // else.
    std::vector<std::string> all = {said.scheduler, said.signal, said.failure,
                                    said.launcher,  said.ours,   said.last};
    if (told) all.insert(all.begin(), said.ours);
    const auto first = std::ranges::find_if(all, [](const auto& line) { return !line.empty(); });
    return first == all.end() ? "" : *first;
}

}  // namespace quorate
