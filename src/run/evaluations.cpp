// SPDX-License-Identifier: BSD-2-Clause
#include "run/evaluations.hpp"

#include <fmt/format.h>

#include <cmath>

namespace quorate {

trace::Evaluation evaluation_row(std::int64_t round, std::int64_t model, double time,
                                 double penalty, const Scored& scored)
{
    return {.round = round,
            .model = model,
            .time = time,
            .train_loss = scored.train_loss,
            .objective = scored.train_loss + penalty,
            .train_accuracy = scored.train_accuracy,
            .test_loss = scored.test.loss,
            .accuracy = scored.test.accuracy,
            .auc = scored.test.auc,
            .average_precision = scored.test.average_precision,
            .precision = scored.test.precision,
            .recall = scored.test.recall,
            .f1 = scored.test.f1,
            .mse = scored.test.mse,
            .top_k = scored.test.top_k};
}

std::string quality_line(const trace::Evaluation& row)
{
    auto line = fmt::format("round {}: training loss {:.4g}, test loss {:.4g}", row.round,
                            row.train_loss, row.test_loss);
    if (!std::isnan(row.accuracy)) line += fmt::format(", accuracy {:.4f}", row.accuracy);
    if (!std::isnan(row.auc)) line += fmt::format(", AUC {:.4f}", row.auc);
    return line + '\n';
}

}  // namespace quorate
