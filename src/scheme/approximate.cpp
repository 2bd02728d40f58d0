// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/approximate.hpp"

#include "scheme/coded.hpp"
#include "scheme/options.hpp"

namespace quorate {

std::vector<Option> approximate_options(std::vector<Option> own)
{
    own.push_back(collect_option());
    own.push_back(deadline_option());
    own.push_back(decoder_option());
    return own;
}

std::unique_ptr<Scheme> approximate_scheme(const Settings& settings, const Problem& problem,
                                           Encoding encoding, Weigh optimal)
{
    const auto decoder = word_of(settings, "decoder", {"optimal", "one-step", "debiased"});
    auto weigh = decoder == "optimal"    ? std::move(optimal)
                 : decoder == "one-step" ? one_step(encoding)
                                         : debiased(encoding, std::move(optimal));
    auto collecting = std::make_unique<CollectDecoder>(encoding, collect(settings, problem.workers),
                                                       std::move(weigh));
    return std::make_unique<CodedScheme>(
        problem, GradientCode{std::move(encoding), std::move(collecting)}, deadline(settings));
}

std::unique_ptr<Scheme> approximate_scheme(const Settings& settings, const Problem& problem,
                                           Encoding encoding)
{
    auto optimal = least_squares(encoding);
    return approximate_scheme(settings, problem, std::move(encoding), std::move(optimal));
}

}  // namespace quorate
