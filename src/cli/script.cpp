// SPDX-License-Identifier: BSD-2-Clause
// quorate script and quorate submit: make jobs on a named cluster from an experiment.
#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/parse.hpp"
#include "jobs/job_plan.hpp"
#include "jobs/queue.hpp"
#include "jobs/script.hpp"
#include "jobs/status.hpp"
#include "jobs/write_jobs.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

// Makes the plan, and checks the words of the command that prepares the data as a job of its own.
JobPlan planned(const Settings& settings)
{
    auto plan = make_job_plan(settings);
    const auto& words = plan.prepare;
    if (words.empty()) return plan;
    const auto command = words[0] == "import" ? import_command() : generate_command();
    try {
        parse(command, {words.begin() + 1, words.end()});
        if (!plan.optimum.empty())
            parse(optimum_command(), {plan.optimum.begin() + 1, plan.optimum.end()});
    } catch (const BadInput& wrong) {
        throw BadInput(
            fmt::format("{}: section [prepare]: {}", settings.text("experiment"), wrong.what()));
    }
    return plan;
}

// Prints what speaks against the plan.
// @return whether the cluster would take it
bool say_findings(const JobPlan& plan, bool hosts)
{
    bool fine = true;
    for (const auto& finding : findings(plan, hosts)) {
        log(finding.error ? LogLevel::error : LogLevel::warning, finding.text);
        fine &= !finding.error;
    }
    return fine;
}

int script(const Settings& settings)
{
    const auto plan = planned(settings);
    const bool checks_hosts = settings.on("check") && !plan.request.hostfile.empty();
    const bool fine = say_findings(plan, checks_hosts);
    if (!fine) return exit_bad_input;
    if (settings.on("check")) return exit_done;
    write_jobs(plan, settings.command_line);
    if (settings.on("quiet")) return exit_done;
    const auto& request = plan.request;
    // What can be run goes to standard output, what is said about it does not.
    log(LogLevel::note,
        fmt::format("{}/manifest.tsv: {} runs", request.folder, request.rows.size()));
    if (plan.profile.scheduler == Scheduler::hosts)
        for (const auto* part : {"prepare", "run", "analyse"}) {
            if (fs::exists(fmt::format("{}/{}.sh", request.folder, part)))
                fmt::print("bash {}\n", quoted(fmt::format("{}/{}.sh", request.folder, part)));
        }
    else
        log(LogLevel::note,
            fmt::format("look at {}/run.sh; quorate submit with the same options queues all of it",
                        request.folder));
    return exit_done;
}

// Submits one script as a job, or as an array of jobs.
// @return the id of the job
std::string submit_one(const JobPlan& plan, const std::string& script,
                       const std::vector<std::int64_t>& array,
                       const std::optional<Dependency>& after)
{
    const auto words = submit_words(plan.request, plan.profile, script, array, after);
    // Schedulers write the output of jobs to the folder where they are called.
    fs::current_path(plan.request.folder);
    const auto ended = run_program(words);
    const auto command = trimmed(arguments(words));
    // The id of the job is the last line of the output that is a single word and begins with a
    // digit: 123, or 123[].host. A semicolon ends it.
    std::string id;
    for (const auto& line : split(ended.output, '\n')) {
        const auto word = trimmed(line);
        if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) &&
            word.find(' ') == std::string::npos)
            id = word.substr(0, word.find(';'));
    }
    if (ended.status != 0 || id.empty())
        throw Failure(
            fmt::format("{} failed with status {}: {}", command, ended.status, ended.first_line()));
    fmt::print("{}\t{}\n", id, command);
    record_job(plan.request.folder, {id, script, array, plan.profile.scheduler});
    return id;
}

int submit(const Settings& settings)
{
    const auto plan = planned(settings);
    if (plan.profile.scheduler == Scheduler::hosts)
        settings.refuse("cluster",
                        ", which has no scheduler to submit to: quorate script writes what to run");
    if (!say_findings(plan, false)) return exit_bad_input;
    if (settings.on("check")) return exit_done;
    const auto& request = plan.request;
    const auto jobs = submitted_jobs(request.folder);
    write_jobs(plan, settings.command_line);
    auto left = left_to_run(plan.manifest, request.folder + "/manifest.tsv");
    if (left.empty()) {
        fmt::print("all {} runs are complete: nothing is submitted\n", request.rows.size());
        return exit_done;
    }
    std::set<std::int64_t> queued;
    try {
        for (const auto& job : jobs_in_queue(jobs)) queued.insert(job.row);
    } catch (const Failure& unknown) {
        throw Failure(fmt::format("{}; nothing is submitted, as what is queued is not known",
                                  unknown.what()));
    }
    const auto there = std::erase_if(left, [&](auto row) { return queued.contains(row); });
    if (there > 0)
        log(LogLevel::note, fmt::format("{} runs are queued or running already{}", there,
                                        left.empty() ? ": nothing is submitted" : ""));
    if (left.empty()) return exit_done;
    using Kind = Dependency::Kind;
    std::optional<Dependency> after;
    if (fs::exists(request.folder + "/prepare.sh"))
        after = {Kind::success, submit_one(plan, "prepare.sh", {}, {})};
    for (int link = 0; link < request.links; ++link)
        after = {
            Kind::same_element,
            submit_one(plan, script_of_link(plan, static_cast<std::size_t>(link)), left, after)};
    after->kind = Kind::end;
    submit_one(plan, "analyse.sh", {}, after);
    return exit_done;
}

}  // namespace

Command script_command()
{
    return {.name = "script",
            .text = "job scripts and manifest of an experiment, for a named cluster",
            .options = job_options(),
            .run = script,
            .examples = {"quorate script --experiment stragglers --cluster trillium"}};
}

Command submit_command()
{
    return {.name = "submit",
            .text = "the same, and submits what is left to run",
            .options = job_options(),
            .run = submit,
            .examples = {"quorate submit --experiment stragglers --cluster trillium"}};
}

}  // namespace quorate
