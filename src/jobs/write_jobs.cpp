// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/write_jobs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/shell.hpp"
#include "jobs/script.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

// Refuses to go on if a file with the name of a script, or of the host file, was not made by
// Quorate. Files of our own are replaced each time.
void refuse_files_of_others(const std::string& folder, const JobPlan& plan)
{
    std::vector<std::string> names = {"prepare.sh", "analyse.sh"};
    for (std::size_t link = 0; link < plan.links.size(); ++link)
        names.push_back(script_of_link(plan, link));
    if (!plan.hosts_text.empty())
        names.push_back(fs::path(plan.request.hostfile).filename().string());
    for (const auto& name : names) {
        const auto path = fmt::format("{}/{}", folder, name);
        std::ifstream file(path);
        std::string first, second;
        std::getline(file, first);
        std::getline(file, second);
        if (!first.empty() && !second.starts_with("# made by: "))
            throw BadInput(path +
                           " is there, and quorate script did not write it: use another --output");
    }
}

void write_script(const std::string& path, const std::string& text)
{
    write_file(path, text);
    chmod(path.c_str(), 0755);
}

void write_manifest(const JobPlan& plan, const std::string& command)
{
    if (!plan.new_manifest) return;
    const auto path = plan.request.folder + "/manifest.tsv";
    if (fs::exists(path) && Manifest::read(path).text() != plan.manifest.text())
        throw BadInput(
            fmt::format("{} is there, and is of other runs or was edited: use --manifest {}, or "
                        "another --output, or remove it",
                        path, path));
    const auto claims = plan.request.folder + "/claims.json";
    if (plan.claims.empty())
        fs::remove(claims);
    else
        write_file(claims, plan.claims);
    plan.manifest.write(path, {"made by: " + command,
                               "A row is a run, an empty cell an option that is not given."});
}

}  // namespace

void write_jobs(const JobPlan& plan, const std::string& command)
{
    const auto& request = plan.request;
    std::error_code error;
    fs::create_directories(request.folder, error);
    if (error)
        throw BadInput(fmt::format("cannot make {} ({}): use another --output", request.folder,
                                   error.message()));
    refuse_files_of_others(request.folder, plan);
    write_manifest(plan, command);
    if (!plan.hosts_text.empty())
        write_file(request.hostfile,
                   fmt::format("# hosts for {}\n# made by: {}\n{}", mpi_of_launcher(plan.profile),
                               one_line(command), plan.hosts_text));
    Origin origin{command, {}};
    if (!plan.prepare.empty())
        write_script(request.folder + "/prepare.sh",
                     prepare_script(request, plan.profile, origin, plan.prepare, plan.optimum));
    write_script(request.folder + "/analyse.sh",
                 analyse_script(request, plan.profile, origin, plan.figure));
    origin.comments = {""};  // below, what the runs are
    const bool scheduled = plan.profile.scheduler != Scheduler::hosts;
    if (scheduled && !request.time_reason.empty()) origin.comments.push_back(request.time_reason);
    if (plan.profile.memory_request != MemoryRequest::none && !request.memory_reason.empty())
        origin.comments.push_back(request.memory_reason);
    for (std::size_t link = 0; link < plan.links.size(); ++link) {
        const auto& runs = plan.links[link];
        origin.comments[0] = runs.kind == RunKind::run
                                 ? fmt::format("{} runs of {} ranks", runs.rows.size(), runs.ranks)
                                 : fmt::format("{} simulated runs", runs.rows.size());
        write_script(request.folder + "/" + script_of_link(plan, link),
                     run_script(runs, plan.profile, origin));
    }
}

std::string script_of_link(const JobPlan& plan, std::size_t link)
{
    const auto all_alike = plan.links.size() == 1;  // then one script serves every job in the row
    return all_alike || link == 0 ? "run.sh" : fmt::format("run-{}.sh", link + 1);
}

}  // namespace quorate
