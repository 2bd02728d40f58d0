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

// The options of these schemes beside those that they share with others. @param own  of one of them
template <class T>
Fields<T> approximate(std::vector<Field<T>> own = {})
{
    own.emplace_back(&T::decoder, worded("decoder", {"optimal", "one-step", "debiased"}));
    return options<T>(std::move(own));
}

/// @param optimal  the least-squares decoder of this code
template <class T>
GradientCode collecting(const T& given, Encoding encoding, Weigh optimal)
{
    using Decoder = ApproximateDecoder;
    auto weigh = given.decoder == Decoder::optimal    ? std::move(optimal)
                 : given.decoder == Decoder::one_step ? one_step(encoding)
                                                      : debiased(encoding, std::move(optimal));
    const int answers = quorum(given.deadline, given.collect, encoding.workers());
    return quorate::collecting(std::move(encoding), answers, std::move(weigh));
}

template <class T>
GradientCode collecting(const T& given, Encoding encoding)
{
    auto optimal = least_squares(encoding);
    return collecting(given, std::move(encoding), std::move(optimal));
}

// The nearest numbers of workers that fit, in words.
template <class Fits>
std::string nearest(int n, Fits fits)
{
    int below = n, above = n;
    while (below > 0 && !fits(below)) --below;
    while (!fits(above)) ++above;
    return below > 0 ? fmt::format("{} or {}", below, above) : fmt::format("{}", above);
}

GradientCode block_code(const BlockOptions& given, const Problem& problem)
{
    const int n = problem.workers;
    const int groups = given.groups.value_or(std::max(1, n / 2));
    const auto [inside, outside] = std::pair(given.inside, given.outside);
    at_most("groups", groups, n);
    if (inside == 0 && outside == 0)
        throw Refusal("inside", ", and so is --outside: nobody would hold anything");
    if (inside == 0 && groups == 1)
        throw Refusal("inside", ", but all workers are in one block: use --groups 2 or more");
    return collecting(given, block_assignment(n, groups, inside, outside, problem.seed));
}

GradientCode margulis_code(const MargulisOptions& given, const Problem& problem)
{
    const int n = problem.workers;
    int m = 1;
    while ((m + 1) * (m + 1) <= n) ++m;
    if (m < 2 || m * m != n)
        throw Refusal("scheme", fmt::format(", but {} workers are no square of at least 4: use {} "
                                            "or {}",
                                            n, std::max(4, m * m), std::max(9, (m + 1) * (m + 1))));
    return collecting(given, margulis_assignment(m));
}

GradientCode bibd_code(const BibdOptions& given, const Problem& problem)
{
    const int n = problem.workers, q = plane_order(n);
    if (q == 0)
        throw Refusal("scheme",
                      fmt::format(", but {} workers are not q^2 + q + 1 for a prime q: use {}", n,
                                  nearest(n, plane_order)));
    return collecting(given, plane_assignment(q), design_weights(q + 1));
}

GradientCode graph_code(const GraphOptions& given, const Problem& problem)
{
    const int n = problem.workers;
    const int d = given.copies;
    const auto fits = [d](int workers) {
        return workers > 0 && 2 * workers % d == 0 && 2 * workers / d > d;
    };
    if (!fits(n))
        throw Refusal("copies",
                      fmt::format(", but {} workers are not the edges of a graph of that degree: "
                                  "use {} workers",
                                  n, nearest(n, fits)));
    auto encoding = graph_assignment(n, d, problem.seed);
    auto optimal = graph_weights(encoding);
    return collecting(given, std::move(encoding), std::move(optimal));
}

}  // namespace

SchemeEntry<BernoulliOptions> BernoulliOptions::entry()
{
    return {
        .name = "bernoulli",
        .text =
            "approximate; each worker holds each partition with probability D / N; no "
            "structure that an adversary could use",
        .source = "Charles, Papailiopoulos, Ellenberg, arXiv 1711.06771",
        .options = approximate<BernoulliOptions>(),
        .make = coded<BernoulliOptions>([](const BernoulliOptions& given, const Problem& problem) {
            return collecting(given,
                              bernoulli_assignment(problem.workers, given.degree, problem.seed));
        }),
        .properties = {.blocked = until_collected<BernoulliOptions>}};
}

SchemeEntry<BlockOptions> BlockOptions::entry()
{
    return {
        .name = "block",
        .text =
            "approximate; between fractional repetition (inside 1, outside 0) and bernoulli: hides "
            "the groups from an adversary",
        .source = "Charles, Papailiopoulos, arXiv 1805.10378",
        .options = approximate<BlockOptions>(
            {{&BlockOptions::groups,
              {"groups", "G", "", "blocks of workers and partitions; default: half of the workers"},
              {.lowest = 1}},
             {&BlockOptions::inside,
              {"inside", "P", "0.9", "probability to hold a partition of the own block"},
              {.highest = 1}},
             {&BlockOptions::outside,
              {"outside", "P", "0.02", "probability to hold another one"},
              {.highest = 1}}}),
        .make = coded(block_code),
        .properties = {.blocked = until_collected<BlockOptions>}};
}

SchemeEntry<RegularOptions> RegularOptions::entry()
{
    return {.name = "regular",
            .text =
                "approximate; random, D partitions a worker and D workers a partition: the error "
                "is bounded for every set of stragglers",
            .source = "Raviv et al., arXiv 1707.03858",
            .options = approximate<RegularOptions>(),
            .make = coded<RegularOptions>([](const RegularOptions& given, const Problem& problem) {
                return collecting(given,
                                  regular_assignment(problem.workers, given.degree, problem.seed));
            }),
            .properties = {.blocked = until_collected<RegularOptions>}};
}

SchemeEntry<MargulisOptions> MargulisOptions::entry()
{
    return {
        .name = "margulis",
        .text =
            "approximate; an expander graph of degree 8 for M x M workers: a bound for every "
            "set of stragglers without randomness",
        .source = "Raviv et al., arXiv 1707.03858; Margulis, 1973",
        .options = approximate<MargulisOptions>(),
        .make = coded(margulis_code),
        .properties = {.blocked = until_collected<MargulisOptions>, .example = {{"workers", "9"}}}};
}

SchemeEntry<BibdOptions> BibdOptions::entry()
{
    return {.name = "bibd",
            .text =
                "approximate; lines and points of a projective plane, N = q^2 + q + 1 for a prime "
                "q, q + 1 partitions a worker: the error depends on the number of stragglers alone",
            .source = "Kadhe, Koyluoglu, Ramchandran, ISIT 2019",
            .options = approximate<BibdOptions>(),
            .make = coded(bibd_code),
            .properties = {.blocked = until_collected<BibdOptions>, .example = {{"workers", "7"}}}};
}

SchemeEntry<GraphOptions> GraphOptions::entry()
{
    return {
        .name = "graph",
        .text =
            "approximate; workers are the edges and partitions the vertices of a random graph "
            "of degree D, 2 partitions a worker, optimal decoding in linear time",
        .source = "Glasgow, Wootters, arXiv 2006.09638",
        .options = approximate<GraphOptions>(
            {{&GraphOptions::copies,
              {"copies", "D", "3", "workers that hold a partition: the degree of the graph"},
              {.lowest = 2}}}),
        .make = coded(graph_code),
        .properties = {.blocked = until_collected<GraphOptions>, .example = {{"workers", "6"}}}};
}

}  // namespace quorate
