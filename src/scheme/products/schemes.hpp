// SPDX-License-Identifier: BSD-2-Clause
// The options of coded elastic computing. Each member is the option of its name.
#pragma once

#include <optional>

#include "code/generator.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// How rows are shared out.
enum class Strategy { cyclic, shifted_cyclic, flow, speeds };

struct ElasticOptions {
    enum class Storage { one, two };
    std::optional<int> needed = {};
    int slack = 0;
    Storage storage = Storage::one;
    std::optional<Generator> generator = {};
    Strategy allocation = Strategy::shifted_cyclic;
    static SchemeEntry<ElasticOptions> entry();
};

}  // namespace quorate
