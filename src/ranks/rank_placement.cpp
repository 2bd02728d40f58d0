// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/rank_placement.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace quorate {

std::vector<int> place_ranks(const std::vector<std::string>& hosts)
{
    struct Host {
        std::vector<int> ranks = {};
        std::size_t placed = 0;
        std::ptrdiff_t turns = 0;  // turns that it is still owed, times the number of all ranks
    };
    std::vector<Host> all;  // in the order of their first ranks
    std::map<std::string, std::size_t> number;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto [at, fresh] = number.try_emplace(hosts[i], all.size());
        if (fresh) all.emplace_back();
        all[at->second].ranks.push_back(static_cast<int>(i) + 1);
    }
    std::vector<int> ranks;
    const Host* last = nullptr;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        // Hosts take turns in proportion to their ranks. No host gets two turns in a row while
        // another one has ranks left.
        Host* next = nullptr;
        for (auto& host : all) {
            host.turns += std::ssize(host.ranks);
            if (host.placed == host.ranks.size()) continue;
            const auto rank = [&](const Host& one) { return std::pair(&one != last, one.turns); };
            if (!next || rank(host) > rank(*next)) next = &host;
        }
        next->turns -= std::ssize(hosts);
        ranks.push_back(next->ranks[next->placed++]);
        last = next;
    }
    return ranks;
}

namespace {

// A host of a run that goes on.
struct GroupHost {
    std::string name;
    std::vector<int> ranks = {};
    bool has_group = false;
    std::size_t placed = 0;  // ranks
    bool has_room() const { return placed < ranks.size(); }
};

}  // namespace

bool groups_are_together(const std::vector<int>& ranks, const std::vector<int>& groups,
                         const std::vector<std::string>& hosts, const std::string& coordinator)
{
    std::map<int, std::string> host_of;
    std::vector<int> here;  // groups of the coordinator's host
    for (std::size_t worker = 0; worker < std::min(ranks.size(), groups.size()); ++worker) {
        if (ranks[worker] < 0) continue;
        const auto& host = hosts[static_cast<std::size_t>(ranks[worker]) - 1];
        const auto group = groups[worker];
        if (host_of.try_emplace(group, host).first->second != host) return false;
        if (host == coordinator && std::ranges::find(here, group) == here.end())
            here.push_back(group);
    }
    return here.size() < 2;
}

std::vector<int> place_groups(const std::vector<std::string>& hosts, const std::string& coordinator,
                              const std::vector<int>& groups, const std::vector<std::string>& names,
                              const std::vector<int>& first)
{
    std::vector<GroupHost> all;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        auto host = std::ranges::find(all, hosts[i], &GroupHost::name);
        if (host == all.end()) host = all.insert(host, {hosts[i]});
        host->ranks.push_back(static_cast<int>(i) + 1);
    }
    std::map<std::size_t, std::vector<std::size_t>> members;  // that no host has taken
    for (const auto worker : first)
        if (const auto i = static_cast<std::size_t>(worker); i < groups.size())
            members[static_cast<std::size_t>(groups[i])].push_back(i);
    for (std::size_t worker = 0; worker < groups.size(); ++worker) {
        auto& known = members[static_cast<std::size_t>(groups[worker])];
        if (std::ranges::find(known, worker) == known.end()) known.push_back(worker);
    }
    std::vector<int> ranks(groups.size(), -1);
    const auto take = [&](GroupHost& host, std::size_t group) {
        const auto taken = members.extract(group);
        for (const auto worker : taken.mapped())
            if (host.has_room()) ranks[worker] = host.ranks[host.placed++];
        host.has_group = true;
    };
    // Each host takes that of its name, if there is one, then one of a host that is gone, then
    // more.
    for (auto& host : all)
        if (const auto at = std::ranges::find(names, host.name); at != names.end())
            if (const auto group = static_cast<std::size_t>(at - names.begin());
                members.contains(group))
                take(host, group);
    for (auto& host : all)
        if (!host.has_group && !members.empty()) take(host, members.begin()->first);
    for (auto& host : all)
        while (host.name != coordinator && host.has_room() && !members.empty())
            take(host, members.begin()->first);
    for (auto& host : all)
        while (host.has_room()) ranks.push_back(host.ranks[host.placed++]);
    return ranks;
}

}  // namespace quorate
