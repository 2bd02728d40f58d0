// SPDX-License-Identifier: BSD-2-Clause
#include "job/queue.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <fstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "job/manifest.hpp"
#include "job/shell.hpp"

namespace quorate {

namespace {

const std::string header = "job\tscript\truns";

std::string file_in(const std::string& folder) { return folder + "/jobs.tsv"; }

[[noreturn]] void no_answer(const std::vector<std::string>& words, const Ended& ended)
{
    throw Failure(fmt::format(
        "{} failed with status {}: {}; nothing is submitted, as what is queued is not known",
        words[0], ended.status, ended.first_line()));
}

std::set<std::int64_t> rows_in_slurm(const std::vector<SubmittedJob>& jobs)
{
    const std::vector<std::string> words = {"squeue", "--noheader", "--array", "--format=%F %K",
                                            fmt::format("--user={}", getuid())};
    const auto ended = run_program(words);
    if (ended.status != 0) no_answer(words, ended);
    std::set<std::int64_t> rows;
    for (const auto& line : split(ended.output, '\n')) {
        const auto cells = split(trimmed(line), ' ');
        const auto row = to_integer(cells.back());
        if (row && std::ranges::any_of(jobs, [&](const auto& job) {
                return job.id == cells.front() && !job.rows.empty();
            }))
            rows.insert(*row);
    }
    return rows;
}

// Whether qstat lists a job as one that has not ended. The last line of its output is that of the
// job, and the last two columns are state and queue.
bool is_listed(const std::string& text)
{
    std::vector<std::string> cells;
    for (const auto& cell : split(split(trimmed(text), '\n').back(), ' '))
        if (!cell.empty()) cells.push_back(cell);
    const auto state = cells.size() < 2 ? "" : cells[cells.size() - 2];
    return state != "C" && state != "F";
}

// Whether qstat failed because the job has ended or was never there, and not for another reason.
bool is_unknown(const std::string& text)
{
    const auto says = [&](const char* words) { return boost::algorithm::icontains(text, words); };
    return trimmed(text).empty() || says("unknown job") || says("has finished");
}

std::set<std::int64_t> rows_in_pbs(const std::vector<SubmittedJob>& jobs)
{
    std::set<std::int64_t> rows;
    for (const auto& job : jobs) {
        if (job.rows.empty()) continue;
        const std::vector<std::string> words = {"qstat", job.id};
        const auto ended = run_program(words);
        if (ended.status != 0 && !is_unknown(ended.output)) no_answer(words, ended);
        if (ended.status == 0 && is_listed(ended.output))
            rows.insert(job.rows.begin(), job.rows.end());
    }
    return rows;
}

}  // namespace

std::vector<SubmittedJob> submitted_jobs(const std::string& folder)
{
    const auto path = file_in(folder);
    std::ifstream file(path);
    if (!file) return {};
    std::string line;
    if (!std::getline(file, line) || line != header)
        throw BadInput(path +
                       " does not begin with the columns job, script, runs: remove it, or use "
                       "another --output");
    std::vector<SubmittedJob> jobs;
    while (std::getline(file, line)) {
        const auto cells = split(line, '\t');
        if (cells.size() != 3)
            throw BadInput(fmt::format("{}: '{}' is no job: remove the line", path, line));
        jobs.push_back({cells[0], cells[1], numbers(cells[2])});
    }
    return jobs;
}

void record_job(const std::string& folder, const SubmittedJob& job)
{
    const auto path = file_in(folder);
    std::ofstream file(path, std::ios::app);
    if (file.tellp() == 0) file << header << '\n';
    file << fmt::format("{}\t{}\t{}\n", job.id, job.script, ranges(job.rows));
    file.close();
    if (!file)
        throw Failure(fmt::format("job {} is queued, but cannot be recorded in {}", job.id, path));
}

std::set<std::int64_t> rows_in_queue(const std::vector<SubmittedJob>& jobs, Scheduler scheduler)
{
    if (jobs.empty()) return {};
    return scheduler == Scheduler::slurm ? rows_in_slurm(jobs) : rows_in_pbs(jobs);
}

}  // namespace quorate
