// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/queue.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "jobs/manifest.hpp"

namespace quorate {

namespace {

const std::string header = "job\tscript\truns\tscheduler";

std::string file_in(const std::string& folder) { return folder + "/jobs.tsv"; }

// Whether it is a number of a job, and no option of the programs that are given it: 101, 5.host,
// 7[].host.
bool is_id(const std::string& text)
{
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0 &&
           std::ranges::all_of(text, [](unsigned char c) {
               return std::isalnum(c) != 0 || std::string_view("._-[]").find(
                                                  static_cast<char>(c)) != std::string_view::npos;
           });
}

std::string name_of(Scheduler scheduler)
{
    const auto& all = schedulers();
    return std::ranges::find(all, scheduler, [](const auto& one) { return one.second; })->first;
}

[[noreturn]] void no_answer(const std::vector<std::string>& words, const Ended& ended)
{
    throw Failure(
        fmt::format("{} failed with status {}: {}", words[0], ended.status, ended.first_line()));
}

std::vector<SubmittedJob> of_slurm(const std::vector<SubmittedJob>& jobs, bool wanted)
{
    std::vector<SubmittedJob> some;
    std::ranges::copy_if(jobs, std::back_inserter(some), [&](const auto& job) {
        return (job.scheduler == Scheduler::slurm) == wanted;
    });
    return some;
}

void find_in_slurm(const std::vector<SubmittedJob>& jobs, std::vector<QueuedJob>& queued)
{
    if (jobs.empty()) return;
    const std::vector<std::string> words = {"squeue", "--noheader", "--array",
                                            "--format=%F %K %T %r",
                                            fmt::format("--user={}", getuid())};
    const auto ended = run_program(words);
    if (ended.status != 0) no_answer(words, ended);
    for (const auto& line : split(ended.output, '\n')) {
        auto cells = split(trimmed(line), ' ');
        cells.resize(std::max<std::size_t>(cells.size(), 4));
        if (std::ranges::find(jobs, cells[0], &SubmittedJob::id) == jobs.end()) continue;
        const bool waits = cells[2] == "PENDING";
        queued.push_back({cells[0], to_integer(cells[1]).value_or(0), !waits && !cells[2].empty(),
                          waits && cells[3] != "None" ? cells[3] : ""});
    }
}

// The state in which qstat lists a job. The last line of its output is that of the job, and the
// last two columns are state and queue.
std::string listed_state(const std::string& text)
{
    std::vector<std::string> cells;
    for (const auto& cell : split(split(trimmed(text), '\n').back(), ' '))
        if (!cell.empty()) cells.push_back(cell);
    return cells.size() < 2 ? "" : cells[cells.size() - 2];
}

// Whether qstat failed because the job has ended or was never there, and not for another reason.
bool is_unknown(const std::string& text)
{
    const auto says = [&](const char* words) { return boost::algorithm::icontains(text, words); };
    return trimmed(text).empty() || says("unknown job") || says("has finished");
}

void find_in_pbs(const std::vector<SubmittedJob>& jobs, std::vector<QueuedJob>& queued)
{
    for (const auto& job : jobs) {
        const std::vector<std::string> words = {"qstat", job.id};
        const auto ended = run_program(words);
        if (ended.status != 0 && !is_unknown(ended.output)) no_answer(words, ended);
        const auto state = listed_state(ended.output);
        if (ended.status != 0 || state == "C" || state == "F") continue;
        const bool running = state == "R" || state == "B" || state == "E";
        for (const auto row : job.rows) queued.push_back({job.id, row, running, ""});
        if (job.rows.empty()) queued.push_back({job.id, 0, running, ""});
    }
}

// What sacct's ExitCode says, STATUS:SIGNAL; empty: nothing went wrong.
std::string exit_in_words(const std::string& code)
{
    const auto cells = split(code, ':');
    if (cells.size() != 2) return "";
    if (cells[1] != "0") return "signal " + cells[1];
    return cells[0] == "0" ? "" : "status " + cells[0];
}

}  // namespace

std::vector<SubmittedJob> submitted_jobs(const std::string& folder)
{
    const auto path = file_in(folder);
    const auto text = contents_of(path);
    if (!text) return {};
    std::istringstream file(*text);
    std::string line;
    if (!std::getline(file, line) || line != header)
        throw BadInput(path +
                       " does not begin with the columns job, script, runs, scheduler: remove it, "
                       "or use another --output");
    std::vector<SubmittedJob> jobs;
    while (std::getline(file, line)) {
        const auto cells = split(line, '\t');
        const auto known = schedulers().find(cells.back());
        if (cells.size() != 4 || known == schedulers().end() || known->second == Scheduler::hosts ||
            !is_id(cells[0]))
            throw BadInput(fmt::format("{}: '{}' is no job: remove the line", path, line));
        jobs.push_back({cells[0], cells[1], numbers(cells[2]), known->second});
    }
    return jobs;
}

void record_job(const std::string& folder, const SubmittedJob& job)
{
    const auto path = file_in(folder);
    std::ofstream file(path, std::ios::app);
    if (file.tellp() == 0) file << header << '\n';
    file << fmt::format("{}\t{}\t{}\t{}\n", job.id, job.script, ranges(job.rows),
                        name_of(job.scheduler));
    file.close();
    if (!file)
        throw Failure(fmt::format("job {} is queued, but cannot be recorded in {}", job.id, path));
}

std::vector<QueuedJob> jobs_in_queue(const std::vector<SubmittedJob>& jobs)
{
    std::vector<QueuedJob> queued;
    find_in_slurm(of_slurm(jobs, true), queued);
    find_in_pbs(of_slurm(jobs, false), queued);
    return queued;
}

void cancel_jobs(const std::vector<SubmittedJob>& jobs)
{
    for (const bool slurm : {true, false}) {
        std::vector<std::string> words = {slurm ? "scancel" : "qdel"};
        for (const auto& job : of_slurm(jobs, slurm)) words.push_back(job.id);
        if (words.size() == 1) continue;
        const auto ended = run_program(words);
        if (ended.status != 0) no_answer(words, ended);
    }
}

std::map<std::int64_t, Accounted> accounting(const std::vector<SubmittedJob>& jobs)
{
    std::map<std::int64_t, Accounted> rows;
    std::string ids;
    for (const auto& job : of_slurm(jobs, true))
        if (!job.rows.empty()) ids += (ids.empty() ? "" : ",") + job.id;
    if (ids.empty()) return rows;
    const auto ended =
        run_program({"sacct", "--noheader", "--parsable2", "--allocations", "--duplicates",
                     "--format=JobID,State,CPUTimeRAW,ExitCode", "--jobs=" + ids});
    if (ended.status != 0) return rows;
    // 123_4|CANCELLED by 1000|3600|0:15, in the order in which they were submitted.
    for (const auto& line : split(ended.output, '\n')) {
        const auto cells = split(trimmed(line), '|');
        const auto row = to_integer(cells[0].substr(cells[0].find('_') + 1));
        if (cells.size() < 3 || cells[0].find('_') == std::string::npos || !row) continue;
        auto& one = rows[*row];
        one.state = split(cells[1], ' ')[0];
        one.core_seconds += to_real(cells[2]).value_or(0);
        one.exit = cells.size() > 3 ? exit_in_words(cells[3]) : "";
    }
    return rows;
}

}  // namespace quorate
