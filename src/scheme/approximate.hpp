// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "code/collect_decoder.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// Adds the options --collect, --deadline and --decoder to a scheme's own options.
std::vector<Option> approximate_options(std::vector<Option> own);

/// Makes a scheme that takes the first --collect answers of an approximate code.
/// @param optimal  the least-squares decoder of this code
/// @throws BadInput if an option is wrong
std::unique_ptr<Scheme> approximate_scheme(const Settings& settings, const Problem& problem,
                                           Encoding encoding, Weigh optimal);
/// Likewise, with the least-squares decoder for any code.
std::unique_ptr<Scheme> approximate_scheme(const Settings& settings, const Problem& problem,
                                           Encoding encoding);

}  // namespace quorate
