// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <cmath>

#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

// The least degree with which a thousand draws surely have one that leaves no batch out.
int least_degree(int n)
{
    const auto left_out = [n](int degree) {
        const int batches = (n + degree - 1) / degree;
        return batches * std::pow(1 - 1.0 / batches, n);
    };
    int degree = 1;
    while (left_out(degree) > 3) ++degree;
    return degree;
}

GradientCode bcc(const BccOptions& given, const Problem& problem)
{
    const int n = problem.workers, batches = (n + given.degree - 1) / given.degree;
    auto groups = random_groups(n, batches, problem.seed);
    if (!groups)
        throw Refusal("degree", fmt::format(", but {} workers who choose among {} batches at "
                                            "random leave some out: use --degree {} or more",
                                            n, batches, least_degree(n)));
    auto encoding = repetition_encoding(*groups);
    return {std::move(encoding), std::make_unique<GroupDecoder>(std::move(*groups), n, true)};
}

}  // namespace

SchemeEntry<BccOptions> BccOptions::entry()
{
    return {.name = "bcc",
            .text =
                "batched coupon collector: exact; each worker holds one of N / D batches, chosen "
                "at random, and a round ends when each batch has come once",
            .source = "Li, Mousavi Kalan, Avestimehr, Soltanolkotabi, arXiv 1710.09990",
            .options = options<BccOptions>(),
            .make = coded(bcc),
            .properties = {.example = {{"degree", "3"}}}};
}

}  // namespace quorate
