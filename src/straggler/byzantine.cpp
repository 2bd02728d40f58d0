// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/byzantine.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/random.hpp"
#include "base/text.hpp"

namespace quorate {

void ByzantineWorkers::corrupt(int worker, std::int64_t draw, int part, Numbers payload) const
{
    if (!contains(worker) || collude()) return;
    Stream stream(seed_, Purpose::byzantine, static_cast<std::uint32_t>(worker),
                  static_cast<std::uint32_t>(2 * draw + part));
    payload.visit([&]<class T>(std::span<T> all) {
        double square = 0;
        for (const double x : all) square += x * x;
        const double size = std::sqrt(square / static_cast<double>(all.size())) + 1;
        for (auto& x : all) switch (kind_) {
                case Kind::random: x = static_cast<T>(size * stream.normal()); break;
                case Kind::sign_flip: x = -x; break;
                default: x = std::numeric_limits<T>::quiet_NaN(); break;
            }
    });
}

void ByzantineWorkers::collude(std::span<const int> of, std::span<double> all) const
{
    const auto n = static_cast<Eigen::Index>(of.size());
    Eigen::Map<Eigen::MatrixXd> columns(all.data(), std::ssize(all) / n, n);
    std::vector<Eigen::Index> honest, others;
    for (std::size_t i = 0; i < of.size(); ++i)
        (contains(of[i]) ? others : honest).push_back(static_cast<Eigen::Index>(i));
    if (honest.empty() || others.empty()) return;
    const auto h = static_cast<double>(honest.size());
    Eigen::VectorXd sent = Eigen::VectorXd::Zero(columns.rows());
    if (kind_ == Kind::mimic) {
        const auto is_it = [&](Eigen::Index i) {
            return of[static_cast<std::size_t>(i)] == number_.value_or(-1);
        };
        const auto found = std::ranges::find_if(honest, is_it);
        sent = columns.col(found == honest.end() ? honest.front() : *found);
    } else {
        for (const auto i : honest) sent += columns.col(i) / h;
        if (kind_ == Kind::alie) {
            Eigen::ArrayXd square = Eigen::ArrayXd::Zero(columns.rows());
            for (const auto i : honest) square += (columns.col(i) - sent).array().square();
            sent.array() += number_.value_or(1.5) * (square / std::max(1.0, h - 1)).sqrt();
        } else {
            sent *= -number_.value_or(2);
        }
    }
    for (const auto i : others) columns.col(i) = sent;
}

Option byzantine_option()
{
    return {"byzantine", "KIND[=NUMBER]:WORKER,...", "",
            "workers that send false contributions: random, sign-flip or nan; with a scheme that "
            "aggregates answer by answer also alie=Z (the honest mean and Z standard deviations; "
            "1.5), ipm=E (-E times that mean; 2) or mimic=WORKER (as an honest one; the first). "
            "For tests of schemes that tolerate them"};
}

ByzantineWorkers byzantine_workers(const Settings& settings, std::uint64_t seed, int workers)
{
    if (!settings.on("byzantine")) return {};
    using Kind = ByzantineWorkers::Kind;
    const auto refuse = [&](const std::string& wrong) { settings.refuse("byzantine", wrong); };
    const auto words = split(settings.text("byzantine"), ':');
    const auto attack = split(words[0], '=');
    static const std::map<std::string, Kind> kinds = {
        {"random", Kind::random}, {"sign-flip", Kind::sign_flip},
        {"nan", Kind::nan},       {"alie", Kind::alie},
        {"ipm", Kind::ipm},       {"mimic", Kind::mimic}};
    const auto kind = kinds.find(attack[0]);
    if (kind == kinds.end() || words.size() != 2)
        refuse(
            ": write KIND:WORKER,... with KIND random, sign-flip, nan, alie, ipm or mimic, the "
            "last three perhaps with =NUMBER");
    std::optional<double> number;
    if (attack.size() > 1) {
        number = attack.size() == 2 ? to_real(attack[1]) : std::nullopt;
        if (!number || kind->second < Kind::alie)
            refuse(", but only alie, ipm and mimic have a number: write one behind =");
    }
    std::set<int> who;
    for (const auto& word : split(words[1], ',')) {
        const auto worker = to_integer(word);
        if (!worker || *worker < 0 || *worker >= workers)
            refuse(fmt::format(", but workers are numbered 0 to {}", workers - 1));
        if (!who.insert(static_cast<int>(*worker)).second)
            refuse(fmt::format(", which names worker {} twice: name it once", *worker));
    }
    if (kind->second == Kind::mimic && number &&
        (*number != std::floor(*number) || *number < 0 || *number >= workers ||
         who.contains(static_cast<int>(*number))))
        refuse(fmt::format(", but mimic={} is no honest worker: give one from 0 to {}", *number,
                           workers - 1));
    return {kind->second, std::move(who), seed, number};
}

}  // namespace quorate
