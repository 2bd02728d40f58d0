// SPDX-License-Identifier: BSD-2-Clause
#include "data/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/text.hpp"

namespace quorate {

void map_labels(std::vector<double>& labels, const std::string& map)
{
    const std::set<double> found(labels.begin(), labels.end());
    std::map<double, double> to;
    if (map.empty()) {
        if (found.size() == 2) to = {{*found.begin(), -1}, {*found.rbegin(), 1}};
    } else {
        for (const auto& pair : split(map, ',')) {
            const auto ends = split(pair, ':');
            const auto from = to_real(ends[0]),
                       target = ends.size() == 2 ? to_real(ends[1]) : std::nullopt;
            if (!from || !target || (*target != 1 && *target != -1))
                throw BadInput(fmt::format(
                    "--label-map has '{}': write FROM:-1 or FROM:1, separated by commas", pair));
            to[*from] = *target;
        }
        for (const double label : found)
            if (!to.contains(label))
                throw BadInput(
                    fmt::format("label {} is not in --label-map {}: add it", label, map));
    }
    std::set<double> classes;
    for (const double label : found)
        if (to.contains(label)) classes.insert(to[label]);
    if (classes.size() != 2) {
        std::vector<std::string> some;
        for (const double label : found) {
            if (some.size() == 5) {
                some.emplace_back("more");
                break;
            }
            some.push_back(fmt::format("{}", label));
        }
        throw BadInput(
            fmt::format("the labels are not two classes but {}: {}; map them with --label-map",
                        found.size(), fmt::join(some, ", ")));
    }
    for (double& label : labels) label = to[label];
}

void number_by_first_use(Examples& examples, std::span<const std::int64_t> rows)
{
    std::vector<std::int64_t> number(static_cast<std::size_t>(examples.columns), -1);
    std::int64_t next = 0;
    const auto use = [&](std::int64_t row) {
        const auto at = static_cast<std::size_t>(row);
        for (auto k = examples.start[at]; k < examples.start[at + 1]; ++k) {
            auto& to =
                number[static_cast<std::size_t>(examples.column[static_cast<std::size_t>(k)])];
            if (to < 0) to = next++;
        }
    };
    for (const auto row : rows) use(row);
    for (std::int64_t row = 0; row < examples.rows(); ++row) use(row);
    for (auto& to : number)
        if (to < 0) to = next++;

    std::vector<std::string> feature(examples.feature.size());
    for (std::size_t column = 0; column < feature.size(); ++column)
        feature[static_cast<std::size_t>(number[column])] = std::move(examples.feature[column]);
    examples.feature = std::move(feature);
    std::vector<std::pair<std::int64_t, double>> entries;
    for (std::size_t row = 0; row + 1 < examples.start.size(); ++row) {
        const auto first = static_cast<std::size_t>(examples.start[row]),
                   last = static_cast<std::size_t>(examples.start[row + 1]);
        entries.clear();
        for (auto k = first; k < last; ++k)
            entries.emplace_back(number[static_cast<std::size_t>(examples.column[k])],
                                 examples.value[k]);
        std::sort(entries.begin(), entries.end());
        for (auto k = first; k < last; ++k)
            std::tie(examples.column[k], examples.value[k]) = entries[k - first];
    }
}

}  // namespace quorate
