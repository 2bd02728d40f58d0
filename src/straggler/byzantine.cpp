// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/byzantine.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/random.hpp"
#include "base/text.hpp"

namespace quorate {

void ByzantineWorkers::corrupt(int worker, std::int64_t draw, int part, Numbers payload) const
{
    if (!contains(worker)) return;
    Stream stream(seed_, Purpose::byzantine, static_cast<std::uint32_t>(worker),
                  static_cast<std::uint32_t>(2 * draw + part));
    payload.visit([&]<class T>(std::span<T> all) {
        double square = 0;
        for (const double x : all) square += x * x;
        const double size = std::sqrt(square / static_cast<double>(all.size())) + 1;
        for (auto& x : all) switch (kind_) {
                case Kind::random: x = static_cast<T>(size * stream.normal()); break;
                case Kind::sign_flip: x = -x; break;
                case Kind::nan: x = std::numeric_limits<T>::quiet_NaN(); break;
            }
    });
}

Option byzantine_option()
{
    return {"byzantine", "KIND:WORKER,...", "",
            "workers that send false contributions: random, sign-flip or nan; for tests of schemes "
            "that tolerate them"};
}

ByzantineWorkers byzantine_workers(const Settings& settings, std::uint64_t seed, int workers)
{
    if (!settings.on("byzantine")) return {};
    const auto refuse = [&](const std::string& wrong) { settings.refuse("byzantine", wrong); };
    const auto words = split(settings.text("byzantine"), ':');
    static const std::map<std::string, ByzantineWorkers::Kind> kinds = {
        {"random", ByzantineWorkers::Kind::random},
        {"sign-flip", ByzantineWorkers::Kind::sign_flip},
        {"nan", ByzantineWorkers::Kind::nan}};
    const auto kind = kinds.find(words[0]);
    if (kind == kinds.end() || words.size() != 2)
        refuse(": write KIND:WORKER,... with KIND random, sign-flip or nan");
    std::set<int> who;
    for (const auto& word : split(words[1], ',')) {
        const auto worker = to_integer(word);
        if (!worker || *worker < 0 || *worker >= workers)
            refuse(fmt::format(", but workers are numbered 0 to {}", workers - 1));
        if (!who.insert(static_cast<int>(*worker)).second)
            refuse(fmt::format(", which names worker {} twice: name it once", *worker));
    }
    return {kind->second, std::move(who), seed};
}

}  // namespace quorate
