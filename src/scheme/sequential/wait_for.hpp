// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "base/fields.hpp"

namespace quorate {

/// When an exchange ends without some of its workers (--wait-out).
struct WaitFor {
    enum Rule {
        conform,  // (1 + mu) kappa has passed, kappa the time of the fastest; if the missing
                  // workers do not fit burst, window and lambda by then: as soon as they do
        all,      // the same, but then all workers are waited for
        quorum    // at most `missing` are missing and they fit, however little time has passed
    };
    Rule rule = conform;
    int missing = 0;   // Q, of a quorum
    double grace = 0;  // of a quorum: how long the others are waited for then, as a share of the
                       // time that the exchange has taken
};
/// Reads conform, all or quorum:Q[,GRACE]. @throws BadInput for other words, or if Q counts all
/// workers
void read_option(WaitFor& wait, const GivenWords& given);
std::string written(const WaitFor& wait, const OptionRow&);

}  // namespace quorate
