// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "code/collect_decoder.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// --collect, --deadline and --decoder, after a scheme's own options.
std::vector<Option> approximate_options(std::vector<Option> own);

/// A scheme that takes the first --collect answers of an approximate code.
/// @param optimal  the least-squares decoder of this code
std::unique_ptr<Scheme> approximate_scheme(const Settings& settings, const Problem& problem,
                                           Encoding encoding, Weigh optimal);
/// With the general least-squares decoder.
std::unique_ptr<Scheme> approximate_scheme(const Settings& settings, const Problem& problem,
                                           Encoding encoding);

}  // namespace quorate
