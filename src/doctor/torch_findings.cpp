// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/torch_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace quorate {

namespace {

// Adds what speaks against that rank having the same PyTorch as the others.
// @param first  a rank that has one
// @return whether anything does
bool unlike(const RankFacts& rank, const RankFacts& first, std::vector<Finding>& findings)
{
    const auto& torch = rank.torch;
    if (!torch.wrong.empty())
        findings.push_back(
            {true, fmt::format("rank {} on {} cannot import PyTorch ({}): mend it, or start the "
                               "ranks with another Python",
                               rank.rank, rank.host, torch.wrong)});
    else if (torch.version.empty())
        findings.push_back(
            {true, fmt::format("rank {} on {} has no PyTorch, and rank {} has {}: install it there",
                               rank.rank, rank.host, first.rank, first.torch.version)});
    else if (torch.version != first.torch.version)
        findings.push_back(
            {false,
             fmt::format("rank {} on {} has PyTorch {}, and rank {} has {}: install the "
                         "same one on all hosts, or the same samples have other gradients",
                         rank.rank, rank.host, torch.version, first.rank, first.torch.version)});
    else
        return false;
    return true;
}

// The workers of a host, and the GPUs where they would compute.
struct Workers {
    std::vector<std::int64_t> ranks, without_gpu;
    std::set<std::string> seen;
    std::map<std::string, std::size_t> takers;  // by GPU
};

Workers workers_of(const HostRanks& host, bool alone)
{
    Workers all;
    for (const auto* rank : host.ranks) {
        // The coordinator computes nothing, unless it is alone.
        if (rank->rank == 0 && !alone) continue;
        const auto& torch = rank->torch;
        all.ranks.push_back(rank->rank);
        all.seen.insert(torch.gpus.begin(), torch.gpus.end());
        if (torch.takes < 0)
            all.without_gpu.push_back(rank->rank);
        else
            ++all.takers[torch.gpus.at(static_cast<std::size_t>(torch.takes))];
    }
    return all;
}

std::string gpus(std::size_t count)
{
    return fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

void judge_gpus(const HostRanks& host, const Workers& workers, std::vector<Finding>& findings)
{
    const auto& torch = host.ranks[0]->torch;
    const auto say = [&](std::string text) {
        findings.push_back({false, fmt::format("host {}: {}", host.host, text)});
    };
    if (!workers.without_gpu.empty() && torch.installed > 0) {
        const auto all = gpus(static_cast<std::size_t>(torch.installed));
        const auto those = spoken(workers.without_gpu);
        say(torch.platform.empty()
                ? fmt::format("{} would compute on the CPU: PyTorch {} was built for CPUs alone, "
                              "and the host has {}: install a build for these",
                              those, torch.version, all)
                : fmt::format("{} would compute on the CPU, and the host has {}: ask the scheduler "
                              "for them (--gpus-per-task), or look at CUDA_VISIBLE_DEVICES",
                              those, all));
    }
    const auto with_gpu = workers.ranks.size() - workers.without_gpu.size();
    // Without names it is not known which are the same.
    if (workers.seen.contains("") || with_gpu <= workers.takers.size()) return;
    if (workers.takers.size() < workers.seen.size())
        say(
            fmt::format("{} would take {} of {}, as their launcher does not say which process of "
                        "the host each is: set LOCAL_RANK, or CUDA_VISIBLE_DEVICES, for each",
                        spoken(workers.ranks), workers.takers.size(), gpus(workers.seen.size())));
    else
        say(
            fmt::format("{} share {}: they wait for each other there; start {} there, or ask for "
                        "more GPUs",
                        spoken(workers.ranks), gpus(workers.seen.size()), workers.seen.size()));
}

}  // namespace

std::vector<Finding> judge_torch(const DoctorFacts& facts)
{
    std::vector<Finding> findings;
    const auto& ranks = facts.ranks;
    const auto first =
        std::ranges::find_if(ranks, [](const auto& rank) { return !rank.torch.version.empty(); });
    const bool looked = first != ranks.end();
    for (const auto& rank : ranks)
        if ((looked || !rank.torch.wrong.empty()) && unlike(rank, looked ? *first : rank, findings))
            break;  // the others of that host would say the same
    if (!looked) return findings;
    std::vector<std::int64_t> without;
    bool some = false;
    for (const auto& host : hosts_of(facts)) {
        const auto workers = workers_of(host, facts.size == 1);
        judge_gpus(host, workers, findings);
        some |= !workers.takers.empty();
        without.insert(without.end(), workers.without_gpu.begin(), workers.without_gpu.end());
    }
    if (some && !without.empty())
        findings.push_back(
            {false, fmt::format("{} would compute on the CPU, and other workers on GPUs: these "
                                "wait for them in most schemes; give each a GPU, or use device cpu",
                                spoken(without))});
    return findings;
}

}  // namespace quorate
