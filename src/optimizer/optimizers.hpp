// SPDX-License-Identifier: BSD-2-Clause
// The options of the optimisers. Each member is the option of its name; `quorate run --optimizer
// NAME --help` says what it does.
#pragma once

#include "optimizer/optimizer.hpp"

namespace quorate {

struct GradientDescentOptions {
    static OptimizerEntry<GradientDescentOptions> entry();
};

struct NesterovAgdOptions {
    static OptimizerEntry<NesterovAgdOptions> entry();
};

struct ErasureHeadAgdOptions {
    static OptimizerEntry<ErasureHeadAgdOptions> entry();
};

struct NesterovStronglyConvexOptions {
    double condition = 100;
    static OptimizerEntry<NesterovStronglyConvexOptions> entry();
};

struct LbfgsOptions {
    int memory = 10;
    static OptimizerEntry<LbfgsOptions> entry();
};

struct MomentumOptions {
    double momentum = 0.9;
    bool nesterov = false;
    static OptimizerEntry<MomentumOptions> entry();
};

struct RmsPropOptions {
    double decay = 0.9;
    static OptimizerEntry<RmsPropOptions> entry();
};

struct AdamOptions {
    double beta1 = 0.9, beta2 = 0.999;
    static OptimizerEntry<AdamOptions> entry();
};

struct AdamWOptions {
    double beta1 = 0.9, beta2 = 0.999, weight_decay = 0.01;
    static OptimizerEntry<AdamWOptions> entry();
};

struct AmsgradOptions {
    double beta1 = 0.9, beta2 = 0.999;
    static OptimizerEntry<AmsgradOptions> entry();
};

struct DualAveragingOptions {
    double beta_constant = 1, beta_growth = 1, radius = 0;
    static OptimizerEntry<DualAveragingOptions> entry();
};

}  // namespace quorate
