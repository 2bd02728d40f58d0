// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/groups.hpp"

namespace quorate {

namespace {

std::vector<Option> options()
{
    auto all = repetition_options();
    all.push_back(
        {"collect", "M", "", "answers after which a round ends; default: half of the workers"});
    all.push_back(
        {"rescale", "coverage|none", "coverage",
         "scale the sum by groups / groups heard (unbiased for random stragglers), or not "
         "(as the public ErasureHead code)"});
    return all;
}

std::unique_ptr<Scheme> make(const Settings& settings, const Problem& problem)
{
    const int collect = settings.on("collect")
                            ? static_cast<int>(settings.integer("collect", 1, problem.workers))
                            : (problem.workers + 1) / 2;
    const bool rescale = settings.one_of("rescale", {"coverage", "none"}) == "coverage";
    return std::make_unique<GroupScheme>(problem, repetition(settings, problem), collect, rescale);
}

}  // namespace

Entry<MakeScheme> agc_entry()
{
    return {
        .name = "agc",
        .arguments = "",
        .text =
            "approximate gradient coding: fractional repetition that ends after M answers even if "
            "groups are missing; for random delays where a small error is acceptable",
        .source = "Wang, Charles, Papailiopoulos, ErasureHead, arXiv 1901.09671",
        .options = options(),
        .make = make};
}

}  // namespace quorate
