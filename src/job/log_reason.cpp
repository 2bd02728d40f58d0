// SPDX-License-Identifier: BSD-2-Clause
#include "job/log_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/text.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

// Whether a line is one that a run prints as it goes on.
bool is_progress(const std::string& line)
{
    return line.starts_with("round ") || line.starts_with("quorate: warning: ") ||
           line.starts_with("quorate: going on after ") || line.starts_with("quorate: worker ");
}

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
    std::string ours, schedulers, last;
    for (const auto& piece : split(text, '\n')) {
        // What a terminal would show of a line that was written over and over.
        const auto line = trimmed(split(trimmed(piece), '\r').back());
        if (line.empty() || is_progress(line)) continue;
        last = line;
        if (line.starts_with("quorate: ") || line.starts_with("quorate[")) ours = line;
        if (line.starts_with("slurmstepd: error: ") || line.starts_with("=>> PBS: "))
            schedulers = line;
    }
    if (told && !ours.empty()) return ours;
    return !schedulers.empty() ? schedulers : !ours.empty() ? ours : last;
}

}  // namespace quorate
