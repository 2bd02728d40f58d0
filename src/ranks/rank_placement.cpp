// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/rank_placement.hpp"

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

}  // namespace quorate
