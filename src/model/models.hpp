// SPDX-License-Identifier: BSD-2-Clause
// The options of the models. Each member is the option of its name; `quorate run --model NAME
// --help` says what it does.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.hpp"

namespace quorate {

struct LogisticOptions {
    double threshold = 0;
    static ModelEntry<LogisticOptions> entry();
};

struct RidgeOptions {
    double threshold = 0;
    static ModelEntry<RidgeOptions> entry();
};

struct HingeOptions {
    double threshold = 0;
    static ModelEntry<HingeOptions> entry();
};

struct SquaredHingeOptions {
    double threshold = 0;
    static ModelEntry<SquaredHingeOptions> entry();
};

struct SoftmaxOptions {
    std::int64_t top_k = 5;
    static ModelEntry<SoftmaxOptions> entry();
};

struct MlpOptions {
    enum class Activation { relu, tanh };
    enum class Loss { softmax, squared };
    std::vector<std::int64_t> hidden = {256};
    Activation activation = Activation::relu;
    Loss loss = Loss::softmax;
    double threshold = 0;
    std::int64_t top_k = 5;
    static ModelEntry<MlpOptions> entry();
};

struct CnnOptions {
    struct Layer {
        enum class Kind { conv, pool, dense };
        Kind kind;
        std::int64_t outputs = 0;  // channels, or values of a dense layer; of a pool none
        std::int64_t size = 0;     // of the window; of a dense layer none
    };
    /// But the last dense one, which has a value for each class.
    std::vector<Layer> layers = {{Layer::Kind::conv, 16, 5},
                                 {Layer::Kind::pool, 0, 2},
                                 {Layer::Kind::conv, 32, 5},
                                 {Layer::Kind::pool, 0, 2},
                                 {Layer::Kind::dense, 64}};
    std::int64_t top_k = 5;
    static ModelEntry<CnnOptions> entry();
};

}  // namespace quorate
