// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/profile.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <ranges>

#include "base/error.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "jobs/share.hpp"
#include "jobs/units.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

template <class Value>
std::vector<std::string> keys_in(const std::map<std::string, Value>& map)
{
    const auto keys = std::views::keys(map);
    return {keys.begin(), keys.end()};
}

[[noreturn]] void refuse(const IniValue& value, const std::string& wanted)
{
    throw BadInput(
        fmt::format("{}{} is {}: write {}", value.origin, value.name, value.text, wanted));
}

template <class T>
std::function<void(const IniValue&)> word(T& target, std::map<std::string, T> words)
{
    return [&target, words = std::move(words)](const IniValue& value) {
        const auto at = words.find(value.text);
        if (at == words.end()) refuse(value, alternatives(keys_in(words)));
        target = at->second;
    };
}

auto number(std::optional<int>& target)
{
    return [&target](const IniValue& value) {
        const auto read = to_integer(value.text);
        if (!read || *read < 1 || *read > 100'000'000) refuse(value, "a whole number from 1 on");
        target = static_cast<int>(*read);
    };
}

auto seconds(std::optional<double>& target)
{
    return [&target](const IniValue& value) {
        target = to_time(value.text);
        if (!target) refuse(value, "a time: 15min, 24h, 7d");
    };
}

auto text(std::string& target)
{
    return [&target](const IniValue& value) { target = value.text; };
}

std::map<std::string, std::function<void(const IniValue&)>> keys_of(Profile& p)
{
    const std::map<std::string, bool> yes_or_no = {{"yes", true}, {"no", false}};
    return {
        {"summary", text(p.summary)},
        {"scheduler", word(p.scheduler, schedulers())},
        {"nodes", number(p.nodes)},
        {"cores", number(p.cores)},
        {"nodes-most", number(p.nodes_most)},
        {"jobs-most", number(p.jobs_most)},
        {"array-most", number(p.array_most)},
        {"cores-per-cache", number(p.cores_per_cache)},
        {"gpus", number(p.gpus)},
        {"gpu-request", word<GpuRequest>(p.gpu_request, {{"none", GpuRequest::none},
                                                         {"per-task", GpuRequest::per_task},
                                                         {"per-node", GpuRequest::per_node}})},
        {"memory",
         [&p](const IniValue& value) {
             p.memory = to_bytes(value.text);
             if (!p.memory) refuse(value, "an amount of memory: 755GiB");
         }},
        {"time-least", seconds(p.time_least)},
        {"time-most", seconds(p.time_most)},
        {"purge", seconds(p.purge)},
        {"time-classes",
         [&p](const IniValue& value) {
             for (const auto& piece : split(value.text, ' ')) {
                 const auto one = to_time(piece);
                 if (!one || (!p.time_classes.empty() && *one <= p.time_classes.back()))
                     refuse(value, "ascending times with a blank between: 3h 12h 24h");
                 p.time_classes.push_back(*one);
             }
         }},
        {"memory-request",
         word<MemoryRequest>(p.memory_request, {{"none", MemoryRequest::none},
                                                {"per-node", MemoryRequest::per_node},
                                                {"per-core", MemoryRequest::per_core},
                                                {"all", MemoryRequest::all}})},
        {"whole-nodes", word<bool>(p.whole_nodes, yes_or_no)},
        {"internet", word<std::optional<bool>>(p.internet, {{"yes", true}, {"no", false}})},
        {"account", word<Account>(p.account, {{"required", Account::required},
                                              {"recommended", Account::recommended},
                                              {"optional", Account::optional}})},
        {"partition", text(p.partition)},
        {"directives", text(p.directives)},
        {"modules", text(p.modules)},
        {"preload", text(p.preload)},
        {"mpi", text(p.mpi)},
        {"launcher", text(p.launcher)},
        {"binding", text(p.binding)},
        {"keep-going", text(p.keep_going)},
        {"scratch", text(p.scratch)},
        {"read-only", text(p.read_only)},
        {"instructions", text(p.instructions)},
        {"tried", word<bool>(p.tried, yes_or_no)},
        {"retired", text(p.retired)},
    };
}

Profile read_file(const std::string& path)
{
    Profile profile;
    profile.path = path;
    profile.name = fs::path(path).stem().string();
    const auto keys = keys_of(profile);
    bool scheduled = false;
    for (const auto& value : read_ini(path)) {
        const auto key = value.section.empty() ? keys.find(value.name) : keys.end();
        if (key == keys.end())
            throw BadInput(fmt::format("{}a cluster profile has no {}{}", value.origin,
                                       value.section.empty() ? value.name : "sections",
                                       suggestion(value.name, keys_in(keys))));
        key->second(value);
        scheduled |= value.name == "scheduler";
    }
    if (!scheduled)
        throw BadInput(path +
                       " says no scheduler: write scheduler = slurm, openpbs, torque or hosts");
    if (profile.gpu_request == GpuRequest::per_task && profile.scheduler != Scheduler::slurm)
        throw BadInput(path +
                       " says gpu-request = per-task, which SLURM alone knows: write per-node");
    return profile;
}

}  // namespace

const std::map<std::string, Scheduler>& schedulers()
{
    static const std::map<std::string, Scheduler> all = {{"slurm", Scheduler::slurm},
                                                         {"openpbs", Scheduler::openpbs},
                                                         {"torque", Scheduler::torque},
                                                         {"hosts", Scheduler::hosts}};
    return all;
}

Profile read_profile(const std::string& cluster)
{
    return read_file(named_file("slurm", "cluster", cluster, "a profile"));
}

std::vector<Profile> profiles()
{
    std::vector<Profile> all;
    for (const auto& path : shared_files("slurm", ".ini")) all.push_back(read_file(path));
    return all;
}

}  // namespace quorate
