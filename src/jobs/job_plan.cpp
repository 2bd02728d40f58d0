// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/job_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "jobs/cells.hpp"
#include "jobs/claim.hpp"
#include "jobs/estimate.hpp"
#include "jobs/experiment.hpp"
#include "jobs/hosts.hpp"
#include "jobs/script.hpp"
#include "jobs/share.hpp"
#include "jobs/units.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

// @param unit  seconds that a number without a unit counts
double time_of(const Settings& settings, const char* name, double unit)
{
    const auto seconds = to_time(settings.text(name), unit);
    if (!seconds || *seconds <= 0)
        settings.refuse(name, ": write 40min, 12h, 2:00:00 or 1-12:00:00");
    return *seconds;
}

// What a number without a unit counts to a scheduler. Without a scheduler it counts nothing.
struct Units {
    double seconds = 0, bytes = 0;
};

Units units_of(Scheduler scheduler)
{
    if (scheduler == Scheduler::slurm) return {60, 1024.0 * 1024};
    return scheduler == Scheduler::hosts ? Units{} : Units{1, 1};
}

// Adds to each row what it lacks to be run, and to go on if its job ends: the data set and the name
// of a checkpoint. Dry runs need neither.
Manifest completed(const Manifest& from, const std::string& data)
{
    Manifest all;
    for (auto row : from.rows()) {
        const bool dry = row.value("dry") == "on";
        if (!dry && row.value("data").empty() && !data.empty())
            row.options.insert(row.options.begin(), {"data", data});
        if (!dry && row.value("checkpoint").empty())
            row.options.emplace_back("checkpoint", fs::path(row.trace).stem().string() + ".ckpt");
        all.add(std::move(row));
    }
    return all;
}

// Returns the absolute path of a folder, without a slash at its end.
std::string folder(const fs::path& path)
{
    const auto normal = fs::absolute(path).lexically_normal();
    return (normal.has_filename() ? normal : normal.parent_path()).string();
}

// Returns the largest value of an option over all rows. @param fallback  for rows without it
std::int64_t largest(const Manifest& manifest, const std::string& option, std::int64_t fallback)
{
    std::int64_t most = 0;
    for (const auto& row : manifest.rows())
        most = std::max(most, to_integer(row.value(option)).value_or(fallback));
    return most;
}

bool any(const Manifest& manifest, const std::string& option, const std::string& value)
{
    return std::ranges::any_of(manifest.rows(),
                               [&](const auto& row) { return row.value(option) == value; });
}

// Returns the ranks of a job. All runs get as many as the largest needs; those that need fewer
// leave some idle.
int ranks_of(const Manifest& manifest, const std::string& path)
{
    const auto workers = largest(manifest, "workers", 0);
    if (workers == 0)
        throw BadInput(path + " says no number of workers: write workers = 30, for 31 ranks");
    const auto live = any(manifest, "evaluate", "live") ? 1 : 0;
    return static_cast<int>(1 + workers + live + largest(manifest, "standby", 0));
}

// Over how many hosts the ranks will be spread; 1: one, or not known.
int hosts_of(const JobPlan& plan)
{
    if (plan.request.nodes > 0) return plan.request.nodes;
    int hosts = 0, ranks = plan.request.ranks;
    for (const auto& host : plan.hosts.all) {
        if (ranks <= 0) break;
        ranks -= std::max(1, host.slots);
        ++hosts;
    }
    return std::max(1, hosts);
}

void decide_time_and_memory(const Settings& settings, JobPlan& plan)
{
    auto& request = plan.request;
    const auto units = units_of(plan.profile.scheduler);
    if (settings.on("memory")) {
        const auto bytes = to_bytes(settings.text("memory"), units.bytes);
        if (!bytes) settings.refuse("memory", ": write 64GiB, 500M or 4gb");
        request.memory = *bytes;
        request.memory_given = true;
    }
    if (settings.on("time")) request.seconds = time_of(settings, "time", units.seconds);
    if (request.kind == RunKind::simulate) {
        constexpr double an_hour = 3600;
        if (!settings.on("time")) {
            request.seconds = an_hour;
            request.time_reason = "time: an hour, unless --time says more";
        }
        return;
    }
    const auto guess = estimate(plan.manifest, request.folder, hosts_of(plan));
    if (!settings.on("time")) {
        constexpr double margin = 600, quarter = 900;
        request.seconds = std::max({std::ceil((2 * guess.seconds + margin) / quarter) * quarter,
                                    plan.profile.time_least.value_or(0)});
        request.time_reason = fmt::format(
            "time: simulated, the longest run has rounds of {} in all; twice that and 10 "
            "min, in quarters of an hour",
            spoken_time(guess.seconds));
        if (request.links > 1)
            request.seconds =
                std::min(request.seconds, plan.profile.time_most.value_or(request.seconds));
    }
    if (settings.on("memory")) return;
    request.memory = guess.memory;
    request.memory_reason = guess.memory > 0
                                ? guess.memory_reason
                                : "memory: not known before the data set is there; see --memory";
}

// Returns the numbers of workers that --link-workers gives, of each job in a row; none if it is not
// given.
std::vector<int> link_workers(const Settings& settings, RunKind kind)
{
    std::vector<int> all;
    if (!settings.on("link-workers")) return all;
    if (kind == RunKind::simulate)
        settings.refuse("link-workers", ", but simulations have no ranks: leave it out");
    if (settings.given("links"))
        settings.refuse("link-workers",
                        ", which also says how many links there are: leave out --links");
    for (const auto& text : split(settings.text("link-workers"), ',')) {
        const auto workers = to_integer(text).value_or(0);
        if (workers < 1 || workers > 1'000'000)
            settings.refuse("link-workers",
                            ": write a whole number of workers for each link, as 30,60,15");
        all.push_back(static_cast<int>(workers));
    }
    return all;
}

// Returns what each job in a row asks for, if they have these numbers of workers: as many ranks as
// those need. If there are no numbers, one request is of all jobs.
std::vector<Request> requests_of_links(const JobPlan& plan, const std::vector<int>& workers,
                                       bool nodes_given)
{
    std::vector<Request> links(std::max<std::size_t>(1, workers.size()), plan.request);
    const auto beside = plan.request.ranks - static_cast<int>(largest(plan.manifest, "workers", 0));
    for (std::size_t i = 0; i < workers.size(); ++i) {
        auto& link = links[i];
        link.workers = workers[i];
        link.ranks = beside + link.workers;
        if (!nodes_given) link.nodes = nodes_for(plan.profile, link);
    }
    return links;
}

// Returns the longest part of a path that exists. A data set that is yet to be made is not there,
// but the folder that it is to be made in must be readable.
std::string nearest_there(fs::path path)
{
    while (!fs::exists(path) && path.has_relative_path()) path = path.parent_path();
    return path.string();
}

// A scheduler takes about a thousand jobs of a user; simulations run in one.
std::int64_t most_runs(const Settings& settings, RunKind kind)
{
    if (settings.on("max-runs")) return settings.integer("max-runs", 1);
    return kind == RunKind::run ? 1000 : 10'000;
}

// Reads an experiment, with the runs and seeds that the options ask for.
Experiment chosen_experiment(const std::string& source, const Settings& settings)
{
    auto experiment = read_experiment(source);
    if (settings.text("command") == "tune") {
        if (settings.on("seeds"))
            settings.refuse("seeds", ", but section [tune] has seeds of its own: leave it out");
        return tuning_of(std::move(experiment));
    }
    if (settings.on("seeds")) replace_seeds(experiment, settings.text("seeds"));
    return experiment;
}

// Expands an experiment to its runs.
void plan_experiment(const std::string& source, const Settings& settings, JobPlan& plan)
{
    auto& request = plan.request;
    const auto experiment = chosen_experiment(source, settings);
    request.name = experiment.name;
    request.folder = folder(settings.on("output") ? settings.text("output") : experiment.name);
    if (fs::exists(request.folder) && !fs::is_directory(request.folder))
        throw BadInput(fmt::format("{} is a file: give a folder as --output", request.folder));
    const auto raw =
        settings.on("data-folder") ? settings.text("data-folder") : environment("QUORATE_DATA");
    const auto raw_path = raw.empty() ? raw : folder(raw);
    if (settings.on("data-folder") && fs::exists(raw) && !fs::is_directory(raw))
        settings.refuse("data-folder", ", which is a file: give the folder of the raw data");
    plan.manifest = expand(experiment, request.kind, raw_path, most_runs(settings, request.kind));
    const auto data =
        settings.on("data") ? fs::absolute(settings.text("data")).string() : std::string("data.h5");
    plan.prepare = prepare_words(experiment, raw_path, data);
    plan.optimum = optimum_words(experiment, data);
    plan.figure = experiment.figure;
    plan.claims = claims_text(experiment, plan.manifest, request.kind, raw_path);
    const bool has_data = !plan.prepare.empty() || settings.on("data");
    plan.manifest = completed(plan.manifest, has_data ? data : "");
}

// Reads a manifest that was written before.
void plan_manifest(const std::string& source, const Settings& settings, JobPlan& plan)
{
    if (settings.on("seeds"))
        settings.refuse("seeds", ", but the --manifest names the seed of each run: leave it out");
    if (settings.text("command") == "tune")
        settings.refuse("command", ", which is of an experiment's [tune]: give --experiment");
    if (settings.on("output"))
        settings.refuse("output", ", but scripts stand beside the --manifest: leave it out");
    plan.manifest = Manifest::read(source);
    plan.request.folder = folder(fs::absolute(source).parent_path());
    plan.request.name = plain_name(fs::path(plan.request.folder).filename().string());
    if (fs::path(source).filename() != "manifest.tsv")
        settings.refuse("manifest", ": its name must be manifest.tsv, in a folder of its own");
}

// Decides what follows from the runs.
void plan_ranks(const std::string& source, JobPlan& plan)
{
    auto& request = plan.request;
    const auto& rows = plan.manifest.rows();
    for (const auto& row : rows) request.rows.push_back(row.number);
    request.threads =
        static_cast<int>(std::max<std::int64_t>(1, largest(plan.manifest, "threads", 1)));
    request.ranks = request.kind == RunKind::run ? ranks_of(plan.manifest, source) : 1;
    request.resilient = request.kind == RunKind::run && any(plan.manifest, "resilient", "on");
    const auto has_checkpoint = [](const auto& row) { return !row.value("checkpoint").empty(); };
    request.resumes = std::ranges::all_of(rows, has_checkpoint);
    request.may_be_done = std::ranges::all_of(
        rows, [&](const auto& row) { return has_checkpoint(row) || row.value("dry") == "on"; });
}

// Decides where the ranks run. Without a scheduler these are the hosts of a file, which is written
// anew unless the launcher reads the user's.
void plan_hosts(const Settings& settings, JobPlan& plan)
{
    auto& request = plan.request;
    if (settings.on("gpus-per-task"))
        request.gpus_per_task = static_cast<int>(settings.integer("gpus-per-task", 1, 1000));
    request.nodes = settings.on("nodes") ? static_cast<int>(settings.integer("nodes", 1, 1'000'000))
                                         : nodes_for(plan.profile, request);
    if (!settings.on("hostfile")) return;
    if (plan.profile.scheduler != Scheduler::hosts)
        settings.refuse("hostfile",
                        ", but a scheduler chooses the hosts: leave it out, or use "
                        "--cluster hosts");
    plan.hosts = read_hosts(settings.text("hostfile"));
    request.hostfile = fs::absolute(settings.text("hostfile")).string();
    const auto mpi = mpi_of_launcher(plan.profile);
    if (mpi == "openmpi" ? plan.hosts.for_open_mpi : plan.hosts.for_hydra) return;
    plan.hosts_text = hosts_text(plan.hosts, mpi);
    request.hostfile = fmt::format("{}/hosts.{}", request.folder, mpi);
}

// Decides what the user asks of the scheduler.
void plan_job(const Settings& settings, Request& request)
{
    request.links = static_cast<int>(settings.integer("links", 1, 1000));
    request.stop_before = time_of(settings, "stop-before", 1);
    request.account = settings.text("account");
    request.partition = settings.text("partition");
    request.mail = settings.text("mail");
    for (const auto* name : {"account", "partition", "mail"})
        if (plain(settings.text(name)) != settings.text(name))
            settings.refuse(name, ": use letters, digits and ._+=:-/@ only");
}

}  // namespace

std::vector<Option> job_options()
{
    return {
        {"experiment", "NAME|FILE", "",
         "whose runs these are: see quorate list experiments; or an INI file of your own "
         "(docs/jobs.md)"},
        {"manifest", "FILE", "",
         "in its place: a manifest that was written before, and maybe edited"},
        {"cluster", "NAME|FILE", "",
         "a profile of slurm/, or of your own; see quorate list clusters"},
        {"command", "run|simulate|tune", "run",
         "over MPI, or under the virtual clock; tune: the grid of the experiment's [tune] under "
         "that "
         "clock"},
        {"output", "FOLDER", "", "of manifest, scripts and traces; default: the experiment's name"},
        {"data", "FILE", "",
         "where the prepared data set is, or is to be; default: data.h5 in that folder"},
        {"data-folder", "FOLDER", "", "of raw data, {data} in experiments; default: QUORATE_DATA"},
        {"seeds", "LIST", "", "in place of those of the experiment, as 100..104"},
        {"nodes", "N", "", "default: as many whole nodes as the ranks need, where they fill one"},
        {"gpus-per-task", "N", "",
         "GPUs for each worker, asked for as the profile says; default: none"},
        {"time", "TIME", "",
         "of one run: 40min, 12h, 1-12:00:00; a number counts what it does to the scheduler: "
         "minutes "
         "in SLURM, seconds in PBS; default: twice what a simulation says, and 10 min"},
        {"memory", "SIZE", "",
         "of all ranks together: 64GiB, 4gb; a number counts MiB in SLURM, bytes in PBS; default: "
         "by "
         "data set and scheme"},
        {"links", "N", "1", "jobs in a row over which each run goes on if its time ends"},
        {"link-workers", "N,...", "",
         "workers in each of these jobs, which may be different ones: 30,60,15 for three links; "
         "default: "
         "as the runs say"},
        {"stop-before", "TIME", "5min",
         "a run stops so long before its job ends, with a checkpoint"},
        {"account", "NAME", "", "that pays for the jobs"},
        {"partition", "NAME", "", "or queue; default: as the profile says"},
        {"mail", "ADDRESS", "", "for messages when jobs end or fail; default: none"},
        {"hostfile", "FILE", "",
         "hosts, one a line, with ranks as HOST:4 or HOST slots=4; for --cluster hosts"},
        {"max-runs", "N", "",
         "most runs that lists may expand to; default: 1000, of simulations 10000"},
        {"retired", "", "", "accept the profile of a machine that is no more"},
        {"check", "", "", "say what rules of the cluster are broken, and write nothing"},
    };
}

JobPlan make_job_plan(const Settings& settings)
{
    if (settings.on("experiment") == settings.on("manifest"))
        throw BadInput("give one of --experiment NAME and --manifest FILE, and --cluster NAME");
    if (!settings.on("cluster"))
        throw BadInput("which machine? Give --cluster NAME; quorate list clusters has them");
    JobPlan plan{.profile = read_profile(settings.text("cluster")),
                 .new_manifest = settings.on("experiment")};
    if (!plan.profile.retired.empty() && !settings.on("retired"))
        settings.refuse("cluster", fmt::format(", which is retired: use --cluster {}, or give "
                                               "--retired for scripts as they were",
                                               plan.profile.retired));
    if (plan.profile.retired.empty() && settings.on("retired"))
        settings.refuse("retired", fmt::format(", but the machine of {} is in use: leave it out",
                                               plan.profile.name));
    plan.request.kind = settings.one_of("command", {"run", "simulate", "tune"}) == "run"
                            ? RunKind::run
                            : RunKind::simulate;
    const auto source = plan.new_manifest ? named_file("jobs", "experiment",
                                                       settings.text("experiment"), "an experiment")
                                          : settings.text("manifest");
    if (plan.new_manifest)
        plan_experiment(source, settings, plan);
    else
        plan_manifest(source, settings, plan);
    check_cells(plan.manifest, source, plan.request.kind, plan.new_manifest);
    plan_ranks(source, plan);
    plan_job(settings, plan.request);
    const auto workers = link_workers(settings, plan.request.kind);
    if (!workers.empty()) plan.request.links = static_cast<int>(workers.size());
    plan_hosts(settings, plan);
    decide_time_and_memory(settings, plan);
    plan.links = requests_of_links(plan, workers, settings.on("nodes"));
    return plan;
}

std::vector<Finding> findings(const JobPlan& plan, bool hosts)
{
    std::vector<Finding> all;
    for (const auto& link : plan.links)
        for (auto& finding : check(link, plan.profile))
            if (std::ranges::find(all, finding.text, &Finding::text) == all.end())
                all.push_back(std::move(finding));
    if (!hosts) return all;
    std::set<std::string> data;
    for (const auto& row : plan.manifest.rows())
        if (const auto file = row.value("data"); !file.empty())
            data.insert(nearest_there(fs::path(plan.request.folder) / file));
    for (auto& fault : check_hosts(plan.hosts.all, {data.begin(), data.end()}))
        all.push_back(std::move(fault));
    return all;
}

}  // namespace quorate
