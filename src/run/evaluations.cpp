// SPDX-License-Identifier: BSD-2-Clause
#include "run/evaluations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/text.hpp"
#include "base/values.hpp"

namespace quorate {

Option evaluate_rows_option()
{
    return {"evaluate-rows", "all|N|train=N,test=N", "all",
            "score models on so many rows of each split, or of those named, which --seed draws: "
            "the same for all models of the run"};
}

ScoredRows scored_rows_of(const Settings& settings, const DataSet& data)
{
    const auto& text = settings.text("evaluate-rows");
    if (text == "all") return ScoredRows(data);
    const auto refuse = [&] {
        settings.refuse("evaluate-rows",
                        ": give a number of rows of at least 1, train=N, test=N, or all");
    };
    const auto number = [&](const std::string& word) {
        const auto read = to_integer(word);
        if (!read || *read < 1) refuse();
        return *read;
    };
    std::map<std::string, std::optional<std::int64_t>> wanted = {{"train", {}}, {"test", {}}};
    for (const auto& word : split(text, ',')) {
        const auto equals = word.find('=');
        const auto named = wanted.find(trimmed(word.substr(0, equals)));
        if (equals == std::string::npos && word == text)
            for (auto& [name, rows] : wanted) rows = number(text);
        else if (equals == std::string::npos || named == wanted.end() || named->second)
            refuse();
        else
            named->second = number(trimmed(word.substr(equals + 1)));
    }
    return {data, wanted["train"], wanted["test"],
            static_cast<std::uint64_t>(settings.integer("seed", 0))};
}

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
