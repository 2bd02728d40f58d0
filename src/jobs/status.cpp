// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "jobs/glance.hpp"
#include "jobs/log_reason.hpp"
#include "jobs/queue.hpp"
#include "jobs/units.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

constexpr double hour = 3600;

// What is known of a run beside its row.
struct Evidence {
    std::optional<Glance> trace;
    std::string unreadable;  // why the trace cannot be read
    const QueuedJob* queued = nullptr;
    const Accounted* accounted = nullptr;
    bool submitted = false;    // whether a job of it is recorded
    bool queue_known = false;  // whether the queue has answered
};

// Whether somebody still writes the trace, as far as its age tells.
bool is_fresh(const Glance& trace)
{
    constexpr double a_minute = 60, rounds = 10;
    return trace.age < std::max(a_minute, rounds * trace.round_seconds);
}

// Returns the stage of a run that is neither in the queue nor complete.
RunStage ended_stage(const Evidence& known, bool has_log)
{
    const std::string state = known.accounted ? known.accounted->state : "";
    const bool stopped = state == "CANCELLED" || state == "PREEMPTED";
    const bool broken = !state.empty() && !stopped && state != "COMPLETED" && state != "PENDING" &&
                        state != "RUNNING";
    if (!known.trace) return broken || (has_log && !stopped) ? RunStage::failed : RunStage::left;
    if (known.trace->status == "interrupted") return RunStage::left;
    if (known.trace->status != "running") return RunStage::failed;
    // A job that is not in the queue writes no more.
    const bool gone = known.queue_known && known.submitted && !known.trace->job.empty();
    return !gone && is_fresh(*known.trace) ? RunStage::running : RunStage::failed;
}

std::string reason_of_failure(const Evidence& known, const std::string& log)
{
    std::string reason = known.unreadable;
    const auto add = [&](const std::string& more) {
        if (!more.empty()) reason += (reason.empty() ? "" : ": ") + more;
    };
    const std::string state = known.accounted ? known.accounted->state : "";
    if (state != "COMPLETED" && state != "FAILED") add(state);
    const bool told =
        known.trace ? known.trace->status == "failed" : state.empty() || state == "FAILED";
    if (!log.empty()) add(reason_in(log, told));
    if (!reason.empty()) return reason;
    if (known.trace && known.trace->status == "running")
        return fmt::format("killed, or lost: its trace has not changed for {}",
                           spoken_time(known.trace->age));
    const auto exit = known.accounted ? known.accounted->exit : "";
    return fmt::format("{}{}, and {}", known.trace ? "its trace says failed" : "its job failed",
                       exit.empty() ? "" : " with " + exit,
                       log.empty() ? "there is no log" : "its log says nothing of it");
}

// The value of an option that counts something, or a default.
double count_of(const ManifestRow& row, const std::string& option, double fallback)
{
    return to_real(row.value(option)).value_or(fallback);
}

// Returns the cores of a run over MPI; 0 if the row does not say how many workers there are.
double cores_of(const ManifestRow& row)
{
    const auto workers = count_of(row, "workers", 0);
    if (workers == 0) return 0;
    const double ranks =
        1 + workers + count_of(row, "standby", 0) + (row.value("evaluate") == "live" ? 1 : 0);
    return ranks * count_of(row, "threads", 1);
}

// Whether the runs are simulations, by the script that makes them.
bool is_simulated(const std::string& folder)
{
    const auto text = contents_of(fs::path(folder) / "run.sh").value_or("");
    return text.find(" simulate --manifest manifest.tsv") != std::string::npos;
}

// Returns how many options two runs have in common.
std::int64_t likeness(const ManifestRow& one, const ManifestRow& other)
{
    return std::ranges::count_if(one.options, [&](const auto& option) {
        return other.value(option.first) == option.second;
    });
}

// Returns the seconds of a round of the run with rounds that is most like this one; 0 if no run has
// rounds.
double round_seconds_like(const ManifestRow& row, const std::vector<ManifestRow>& rows,
                          const std::vector<Evidence>& known)
{
    double seconds = 0;
    std::int64_t most = -1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& trace = known[i].trace;
        if (!trace || trace->rounds == 0) continue;
        if (const auto alike = likeness(row, rows[i]); alike > most) {
            most = alike;
            seconds = trace->seconds / static_cast<double>(trace->rounds);
        }
    }
    return seconds;
}

void add_times(RunStatus& run, const ManifestRow& row, const Evidence& known, double round_seconds,
               bool simulated)
{
    simulated |= known.trace && known.trace->clock != "wall";
    const auto cores = cores_of(row);
    if (known.accounted)
        run.core_hours = known.accounted->core_seconds / hour;
    else if (known.trace && !simulated && cores > 0)
        run.core_hours = cores * known.trace->seconds / hour;
    if (run.stage == RunStage::completed || simulated || !run.rounds_wanted || round_seconds <= 0)
        return;
    const auto rounds = std::max<std::int64_t>(0, *run.rounds_wanted - run.rounds);
    run.seconds_left = round_seconds * static_cast<double>(rounds);
    if (cores > 0) run.core_hours_left = cores * *run.seconds_left / hour;
}

RunStatus status_of_run(const ManifestRow& row, const Evidence& known, const std::string& log)
{
    RunStatus run{.run = row.number, .trace = row.trace};
    run.rounds_wanted = to_integer(row.value("rounds"));
    if (known.trace) {
        run.rounds = known.trace->rounds;
        run.loss = known.trace->loss;
        run.lost = known.trace->lost;
        if (known.trace->rounds_wanted) run.rounds_wanted = known.trace->rounds_wanted;
    }
    run.log = log;
    if (known.trace && known.trace->status == "completed")
        run.stage = RunStage::completed;
    else if (known.queued)
        run.stage = known.queued->running ? RunStage::running : RunStage::queued;
    else if (!known.unreadable.empty())
        run.stage = RunStage::failed;
    else
        run.stage = ended_stage(known, !log.empty());
    if (run.stage == RunStage::failed) run.reason = reason_of_failure(known, log);
    if (run.stage == RunStage::queued) run.reason = known.queued->reason;
    return run;
}

}  // namespace

RunState state_of(const ManifestRow& row, const std::string& manifest)
{
    return state_of_trace((fs::path(manifest).parent_path() / row.trace).string());
}

std::vector<std::int64_t> left_to_run(const Manifest& manifest, const std::string& path)
{
    std::vector<std::int64_t> left;
    for (const auto& row : manifest.rows())
        if (state_of(row, path) != RunState::complete) left.push_back(row.number);
    return left;
}

std::string to_string(RunStage stage)
{
    const char* words[] = {"completed", "running", "queued", "failed", "left"};
    return words[static_cast<int>(stage)];
}

ManifestStatus status_of(const Manifest& manifest, const std::string& path)
{
    ManifestStatus status;
    const auto folder = fs::path(path).parent_path().string();
    const auto jobs = submitted_jobs(folder.empty() ? "." : folder);
    std::vector<QueuedJob> queued;
    if (jobs.empty()) status.no_queue = "no job is recorded";
    try {
        queued = jobs_in_queue(jobs);
    } catch (const Failure& unknown) {
        status.no_queue = unknown.what();
    }
    const auto accounts = accounting(jobs);
    const auto& rows = manifest.rows();
    std::vector<Evidence> known(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto& one = known[i];
        try {
            one.trace = glance((fs::path(folder) / rows[i].trace).string());
        } catch (const std::runtime_error& wrong) {
            one.unreadable = wrong.what();
        }
        one.queue_known = status.no_queue.empty();
        one.submitted = std::ranges::any_of(jobs, [&](const auto& job) {
            return std::ranges::binary_search(job.rows, rows[i].number);
        });
        // Of several jobs of a row, links that wait for each other, the one that runs counts.
        for (const auto& job : queued)
            if (job.row == rows[i].number && (!one.queued || job.running)) one.queued = &job;
        if (const auto at = accounts.find(rows[i].number); at != accounts.end())
            one.accounted = &at->second;
    }
    const bool simulated = is_simulated(folder);
    const JobLogs logs(folder);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& trace = known[i].trace;
        auto run = status_of_run(rows[i], known[i], logs.of(jobs, rows[i].number));
        const auto seconds = trace && trace->rounds > 0 ? trace->round_seconds
                                                        : round_seconds_like(rows[i], rows, known);
        add_times(run, rows[i], known[i], seconds, simulated);
        status.runs.push_back(std::move(run));
    }
    return status;
}

}  // namespace quorate
