// SPDX-License-Identifier: BSD-2-Clause
// The options of sequential gradient coding. Each member is the option of its name.
#pragma once

#include <optional>

#include "scheme/scheme.hpp"
#include "scheme/sequential/wait_for.hpp"

namespace quorate {

struct SrSgcOptions {
    int burst = 1;
    std::optional<int> window = {};
    int lambda = 1, models = 1;
    double mu = 1;
    WaitFor wait_out = {};
    static SchemeEntry<SrSgcOptions> entry();
};

struct MSgcOptions {
    int burst = 1;
    std::optional<int> window = {};
    int lambda = 1, models = 1;
    double mu = 1;
    WaitFor wait_out = {};
    static SchemeEntry<MSgcOptions> entry();
};

}  // namespace quorate
