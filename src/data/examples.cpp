// SPDX-License-Identifier: BSD-2-Clause
#include "data/examples.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

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
            const auto from = to_real(ends[0]), target = ends.size() == 2 ? to_real(ends[1]) : std::nullopt;
            if (!from || !target || (*target != 1 && *target != -1))
                throw BadInput(fmt::format("--label-map has '{}': write FROM:-1 or FROM:1, separated by commas", pair));
            to[*from] = *target;
        }
        for (const double label : found)
            if (!to.contains(label))
                throw BadInput(fmt::format("label {} is not in --label-map {}: add it", label, map));
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
        throw BadInput(fmt::format("the labels are not two classes but {}: {}; map them with --label-map", found.size(),
                                   fmt::join(some, ", ")));
    }
    for (double& label : labels) label = to[label];
}

}  // namespace quorate
