// SPDX-License-Identifier: BSD-2-Clause
// The arguments of the delay models; `quorate list delays` says what they do. Values are seconds of
// a delay, or factors of a slowdown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "straggler/delay.hpp"

namespace quorate {

struct NoDelay {
    static DelayEntry<NoDelay> entry();
};

struct ConstantDelay {
    double value = 1;
    static DelayEntry<ConstantDelay> entry();
};

struct ExponentialDelay {
    double mean = 1;
    static DelayEntry<ExponentialDelay> entry();
};

struct ShiftedExponentialDelay {
    double shift = 0, mean = 1;
    static DelayEntry<ShiftedExponentialDelay> entry();
};

struct ParetoDelay {
    double scale = 1, shape = 2;
    static DelayEntry<ParetoDelay> entry();
};

struct LognormalDelay {
    double median = 1, sigma = 1;
    static DelayEntry<LognormalDelay> entry();
};

struct MixtureDelay {
    struct Component {
        double mean, deviation, weight;
    };
    std::vector<Component> components = {{1, 0, 1}};
    static DelayEntry<MixtureDelay> entry();
};

struct NiagaraDelay {
    static DelayEntry<NiagaraDelay> entry();
};

struct CedarDelay {
    static DelayEntry<CedarDelay> entry();
};

struct GammaDelay {
    double mean = 1, deviation = 1;
    static DelayEntry<GammaDelay> entry();
};

struct GilbertElliottDelay {
    double p_bad = 0.1, p_good = 0.1, value = 1;
    static DelayEntry<GilbertElliottDelay> entry();
};

struct UnevenDelay {
    double deviation = 0, spread = 0, p_bad = 0, p_good = 1, burst = 1;
    std::int64_t draws = 1;
    /// Workers that take so many times as long.
    struct Slow {
        double factor;
        std::vector<int> workers;
    };
    std::optional<Slow> slow = {};
    static DelayEntry<UnevenDelay> entry();
};

struct FixedDelay {
    double value = 1;
    std::vector<int> workers = {0};
    static DelayEntry<FixedDelay> entry();
};

struct HalfNormalDelay {
    double deviation = 1;
    static DelayEntry<HalfNormalDelay> entry();
};

struct ErasureHeadDelay {
    static DelayEntry<ErasureHeadDelay> entry();
};

struct TraceDelay {
    std::string file = "times.csv";
    static DelayEntry<TraceDelay> entry();
};

}  // namespace quorate
