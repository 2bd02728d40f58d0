// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "code/cyclic.hpp"
#include "code/cyclic_matrix.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

GradientCode random_code(const Problem& problem, int s)
{
    constexpr double too_large = 1e5;  // loses more than five of sixteen digits
    const int n = problem.workers;
    auto [code, largest] = random_cyclic_code(n, s, problem.seed);
    if (!(largest <= too_large))
        throw Refusal("coefficients",
                      fmt::format(", but the best of 32 draws for {} workers and {} stragglers "
                                  "has decoding weights up to {:.0e}, more than {:.0e}: use "
                                  "--coefficients deterministic, or another --seed",
                                  n, s, largest, too_large));
    return decoded_on_demand(std::move(code), n - s);
}

}  // namespace

GradientCode chosen_cyclic_code(Coefficients coefficients, int stragglers, const Problem& problem)
{
    const int n = problem.workers;
    if (coefficients == Coefficients::random) return random_code(problem, stragglers);
    if (coefficients == Coefficients::deterministic) return cyclic_code(n, stragglers);
    refuse_unless_divides("stragglers", stragglers + 1, n);
    return residue_class_code(n, stragglers);
}

SchemeEntry<CyclicOptions> CyclicOptions::entry()
{
    return {.name = "cyclic",
            .text =
                "cyclic gradient code: exact, ends at any N - S answers; where S + 1 does not "
                "divide the workers, or stragglers are chosen by an adversary",
            .source = "Tandon et al., ICML 2017; Raviv et al., arXiv 1707.03858",
            .options = options<CyclicOptions>(),
            .make = coded<CyclicOptions>([](const CyclicOptions& given, const Problem& problem) {
                return chosen_cyclic_code(given.coefficients, given.stragglers, problem);
            }),
            .properties = {.candidates = [](int n, bool) { return doubled_stragglers(n / 2 - 1); },
                           .blocked =
                               [](const CyclicOptions& given, int n) {
                                   return given.coefficients == Coefficients::ones
                                              ? Blocked{}
                                              : until_stragglers(given, n);
                               },
                           .example = {{"stragglers", "2"}}}};
}

}  // namespace quorate
