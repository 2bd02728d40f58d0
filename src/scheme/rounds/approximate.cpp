// SPDX-License-Identifier: BSD-2-Clause
// Approximate codes with an optimal decoder: a round takes the first --collect answers, whichever
// workers they come from. They differ in who holds which partitions.
#include <fmt/format.h>

#include <algorithm>

#include "code/assignments.hpp"
#include "code/collect_decoder.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

// Adds the options that all of these schemes have to a scheme's own.
std::vector<Option> options(std::vector<Option> own)
{
    own.push_back(collect_option());
    own.push_back(deadline_option());
    own.push_back(decoder_option());
    return own;
}

/// @param optimal  the least-squares decoder of this code
std::unique_ptr<Scheme> collecting(const Settings& settings, const Problem& problem,
                                   Encoding encoding, Weigh optimal)
{
    const auto decoder = word_of(settings, "decoder", {"optimal", "one-step", "debiased"});
    auto weigh = decoder == "optimal"    ? std::move(optimal)
                 : decoder == "one-step" ? one_step(encoding)
                                         : debiased(encoding, std::move(optimal));
    const int n = problem.workers;
    auto limit = round_limit(settings, n);
    auto collecting = std::make_unique<CollectDecoder>(
        encoding, limit.adaptive ? n : collect(settings, n), std::move(weigh));
    return std::make_unique<CodedScheme>(
        problem, GradientCode{std::move(encoding), std::move(collecting)}, std::move(limit));
}

std::unique_ptr<Scheme> collecting(const Settings& settings, const Problem& problem,
                                   Encoding encoding)
{
    auto optimal = least_squares(encoding);
    return collecting(settings, problem, std::move(encoding), std::move(optimal));
}

std::unique_ptr<Scheme> make_bernoulli(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    return collecting(settings, problem,
                      bernoulli_assignment(n, degree(settings, n), problem.seed));
}

std::unique_ptr<Scheme> make_block(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const auto groups = settings.on("groups") ? static_cast<int>(settings.integer("groups", 1, n))
                                              : std::max(1, n / 2);
    const double inside = settings.real("inside", 0, 1), outside = settings.real("outside", 0, 1);
    if (inside == 0 && outside == 0)
        settings.refuse("inside", ", and so is --outside: nobody would hold anything");
    if (inside == 0 && groups == 1)
        settings.refuse("inside", ", but all workers are in one block: use --groups 2 or more");
    return collecting(settings, problem,
                      block_assignment(n, groups, inside, outside, problem.seed));
}

std::unique_ptr<Scheme> make_regular(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    return collecting(settings, problem, regular_assignment(n, degree(settings, n), problem.seed));
}

std::unique_ptr<Scheme> make_margulis(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    int m = 1;
    while ((m + 1) * (m + 1) <= n) ++m;
    if (m < 2 || m * m != n)
        settings.refuse("scheme",
                        fmt::format(", but {} workers are no square of at least 4: use {} "
                                    "or {}",
                                    n, std::max(4, m * m), std::max(9, (m + 1) * (m + 1))));
    return collecting(settings, problem, margulis_assignment(m));
}

std::unique_ptr<Scheme> make_bibd(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const int q = plane_order(n);
    if (q == 0) {
        int below = n, above = n;
        while (below > 7 && plane_order(below) == 0) --below;
        while (plane_order(above) == 0) ++above;
        settings.refuse(
            "scheme",
            fmt::format(", but {} workers are not q^2 + q + 1 for a prime q: use {}", n,
                        below < n && plane_order(below) != 0 ? fmt::format("{} or {}", below, above)
                                                             : fmt::format("{}", above)));
    }
    return collecting(settings, problem, plane_assignment(q), design_weights(q + 1));
}

std::unique_ptr<Scheme> make_graph(const Settings& settings, const Problem& problem)
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
    return collecting(settings, problem, std::move(encoding), std::move(optimal));
}

}  // namespace

Entry<MakeScheme> bernoulli_entry()
{
    return {.name = "bernoulli",
            .text =
                "approximate; each worker holds each partition with probability D / N; no "
                "structure that an adversary could use",
            .source = "Charles, Papailiopoulos, Ellenberg, arXiv 1711.06771",
            .options = options({degree_option()}),
            .make = make_bernoulli,
            .properties = {.blocked = until_collected}};
}

Entry<MakeScheme> block_entry()
{
    return {
        .name = "block",
        .text =
            "approximate; between fractional repetition (inside 1, outside 0) and bernoulli: hides "
            "the groups from an adversary",
        .source = "Charles, Papailiopoulos, arXiv 1805.10378",
        .options = options(
            {{"groups", "G", "", "blocks of workers and partitions; default: half of the workers"},
             {"inside", "P", "0.9", "probability to hold a partition of the own block"},
             {"outside", "P", "0.02", "probability to hold another one"}}),
        .make = make_block,
        .properties = {.blocked = until_collected}};
}

Entry<MakeScheme> regular_entry()
{
    return {.name = "regular",
            .text =
                "approximate; random, D partitions a worker and D workers a partition: the error "
                "is bounded for every set of stragglers",
            .source = "Raviv et al., arXiv 1707.03858",
            .options = options({degree_option()}),
            .make = make_regular,
            .properties = {.blocked = until_collected}};
}

Entry<MakeScheme> margulis_entry()
{
    return {.name = "margulis",
            .text =
                "approximate; an expander graph of degree 8 for M x M workers: a bound for every "
                "set of stragglers without randomness",
            .source = "Raviv et al., arXiv 1707.03858; Margulis, 1973",
            .options = options({}),
            .make = make_margulis,
            .properties = {.blocked = until_collected, .example = {{"workers", "9"}}}};
}

Entry<MakeScheme> bibd_entry()
{
    return {.name = "bibd",
            .text =
                "approximate; lines and points of a projective plane, N = q^2 + q + 1 for a prime "
                "q, q + 1 partitions a worker: the error depends on the number of stragglers alone",
            .source = "Kadhe, Koyluoglu, Ramchandran, ISIT 2019",
            .options = options({}),
            .make = make_bibd,
            .properties = {.blocked = until_collected, .example = {{"workers", "7"}}}};
}

Entry<MakeScheme> graph_entry()
{
    return {.name = "graph",
            .text =
                "approximate; workers are the edges and partitions the vertices of a random graph "
                "of degree D, 2 partitions a worker, optimal decoding in linear time",
            .source = "Glasgow, Wootters, arXiv 2006.09638",
            .options = options(
                {{"copies", "D", "3", "workers that hold a partition: the degree of the graph"}}),
            .make = make_graph,
            .properties = {.blocked = until_collected, .example = {{"workers", "6"}}}};
}

}  // namespace quorate
