// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "code/assignments.hpp"
#include "scheme/approximate.hpp"
#include "scheme/options.hpp"

namespace quorate {

namespace {

std::unique_ptr<Scheme> make(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const int d = static_cast<int>(settings.integer("copies", 2));
    const auto fits = [d](int workers) {
        return workers > 0 && 2 * workers % d == 0 && 2 * workers / d > d;
    };
    if (!fits(n)) {
        int below = n, above = n;
        while (below > 0 && !fits(below)) --below;
        while (!fits(above)) ++above;
        settings.refuse("copies",
                        fmt::format(", but {} workers are not the edges of a graph of that degree: "
                                    "use {}",
                                    n,
                                    below > 0 ? fmt::format("{} or {} workers", below, above)
                                              : fmt::format("{} workers", above)));
    }
    auto encoding = graph_assignment(n, d, problem.seed);
    auto optimal = graph_weights(encoding);
    return approximate_scheme(settings, problem, std::move(encoding), std::move(optimal));
}

}  // namespace

Entry<MakeScheme> graph_entry()
{
    return {.name = "graph",
            .text =
                "approximate; workers are the edges and partitions the vertices of a random graph "
                "of degree D, 2 partitions a worker, optimal decoding in linear time",
            .source = "Glasgow, Wootters, arXiv 2006.09638",
            .options = approximate_options(
                {{"copies", "D", "3", "workers that hold a partition: the degree of the graph"}}),
            .make = make,
            .properties = {.blocked = until_collected, .example = {{"workers", "6"}}}};
}

}  // namespace quorate
