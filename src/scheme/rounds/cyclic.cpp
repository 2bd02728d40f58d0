// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/rounds/cyclic.hpp"

#include <fmt/format.h>

#include "code/cyclic.hpp"
#include "code/cyclic_matrix.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

GradientCode random_code(const Settings& settings, const Problem& problem, int s)
{
    constexpr double too_large = 1e5;  // loses more than five of sixteen digits
    const int n = problem.workers;
    auto [code, largest] = random_cyclic_code(n, s, problem.seed);
    if (!(largest <= too_large))
        settings.refuse("coefficients",
                        fmt::format(", but the best of 32 draws for {} workers and {} stragglers "
                                    "has decoding weights up to {:.0e}, more than {:.0e}: use "
                                    "--coefficients deterministic, or another --seed",
                                    n, s, largest, too_large));
    auto encoding = code.encoding;
    return {std::move(encoding), std::make_unique<NullSpaceDecoder>(std::move(code), n - s)};
}

}  // namespace

Option coefficients_option()
{
    return {"coefficients", "deterministic|random|ones", "deterministic",
            "real MDS code; the original random construction; or ones, decoded by residue class, "
            "where S + 1 divides the workers"};
}

GradientCode chosen_cyclic_code(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const int s = stragglers(settings, n - 1);
    const auto& kind = settings.one_of("coefficients", {"deterministic", "random", "ones"});
    if (kind == "random") return random_code(settings, problem, s);
    if (kind == "deterministic") return cyclic_code(n, s);
    refuse_unless_divides(settings, "stragglers", s + 1, n);
    return residue_class_code(n, s);
}

Entry<MakeScheme> cyclic_entry()
{
    return {
        .name = "cyclic",
        .text =
            "cyclic gradient code: exact, ends at any N - S answers; where S + 1 does not "
            "divide the workers, or stragglers are chosen by an adversary",
        .source = "Tandon et al., ICML 2017; Raviv et al., arXiv 1707.03858",
        .options = {stragglers_option(), coefficients_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            return std::make_unique<CodedScheme>(problem, chosen_cyclic_code(settings, problem));
        },
        .properties = {.candidates = [](int n, bool) { return doubled_stragglers(n / 2 - 1); },
                       .blocked =
                           [](const Settings& settings, int n) {
                               return settings.text("coefficients") == "ones"
                                          ? Blocked{}
                                          : until_answers(n, n - stragglers(settings, n - 1));
                           },
                       .example = {{"stragglers", "2"}}}};
}

}  // namespace quorate
