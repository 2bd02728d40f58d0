// SPDX-License-Identifier: BSD-2-Clause
#include "run/quality_words.hpp"

#include <fmt/format.h>

#include <cmath>

namespace quorate {

std::string quality_words(const Quality& quality)
{
    std::string text;
    if (std::isfinite(quality.loss)) text += fmt::format(", loss {:.6f}", quality.loss);
    const auto add = [&](const char* name, double value) {
        if (std::isfinite(value)) text += fmt::format(", {} {:.4f}", name, value);
    };
    add("accuracy", quality.accuracy);
    add("AUC", quality.auc);
    add("precision", quality.precision);
    add("recall", quality.recall);
    add("F1", quality.f1);
    return text;
}

}  // namespace quorate
