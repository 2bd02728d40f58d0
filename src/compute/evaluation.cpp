// SPDX-License-Identifier: BSD-2-Clause
#include "compute/evaluation.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "compute/work.hpp"

namespace quorate {

namespace {

RowView test_rows_of(const Shard& shard)
{
    return shard.size() > 1 ? shard.block(1).view() : RowView{};
}

}  // namespace

std::size_t scores_length(std::size_t models, const Shard& shard, const Model& model)
{
    const auto sums = tiles_of(shard.block(0).view().rows) + 1;
    return models * static_cast<std::size_t>(sums + test_rows_of(shard).rows * model.outputs());
}

void score(std::span<const std::span<const double>> models, const Shard& shard, const Model& model,
           std::span<double> out)
{
    const petsc::Logged logged(petsc::Work::score);
    const auto train = shard.block(0).view();
    const auto test = test_rows_of(shard);
    const auto width = static_cast<std::size_t>(test.rows * model.outputs());
    const auto outputs = model.outputs(), tiles = tiles_of(train.rows);
    const auto per_model = static_cast<std::size_t>(tiles + 1);
    const auto sums = out.first(per_model * models.size());
    const auto scores = out.subspan(sums.size());
    std::vector<double> train_scores(static_cast<std::size_t>(train.rows * outputs));
    for (std::size_t i = 0; i < models.size(); ++i) {
        model.score(train, models[i], train_scores);
        const auto of_model = sums.subspan(i * per_model, per_model);
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const auto first = tile * score_tile, rows = std::min(score_tile, train.rows - first);
            of_model[static_cast<std::size_t>(tile)] = model.loss().evaluate(
                train_scores.data() + first * outputs, train.label + first, rows, nullptr);
        }
        of_model.back() =
            model.loss().hits(train_scores, {train.label, static_cast<std::size_t>(train.rows)});
        if (test.rows > 0) model.score(test, models[i], scores.subspan(i * width, width));
    }
}

std::vector<Scored> combine_scores(const Scoring& scoring, std::size_t models,
                                   std::span<const std::span<const double>> answers,
                                   std::span<const double> test_labels)
{
    const auto outputs = static_cast<std::size_t>(scoring.model.outputs());
    const auto width = test_labels.size() * outputs;
    std::vector<double> losses(models), hits(models), scores(models * width);
    for (std::size_t scorer = 0; scorer < answers.size(); ++scorer) {
        const auto rows =
            scoring.rows.share(static_cast<int>(answers.size()), static_cast<int>(scorer));
        const auto tiles = static_cast<std::size_t>(tiles_of(rows.train_count));
        auto sums = answers[scorer];
        auto parts = answers[scorer].subspan(models * (tiles + 1));
        const auto first = static_cast<std::size_t>(rows.test_first) * outputs;
        const auto count = static_cast<std::size_t>(rows.test_count) * outputs;
        for (std::size_t i = 0; i < models; ++i) {
            for (const auto loss : sums.first(tiles)) losses[i] += loss;
            hits[i] += sums[tiles];
            sums = sums.subspan(tiles + 1);
            std::ranges::copy(parts.first(count),
                              scores.begin() + static_cast<std::ptrdiff_t>(i * width + first));
            parts = parts.subspan(count);
        }
    }
    const auto count = static_cast<double>(scoring.rows.count(Split::train));
    std::vector<Scored> all;
    for (std::size_t i = 0; i < models; ++i)
        all.push_back({losses[i] / count, hits[i] / count,
                       scoring.model.loss().quality(std::span(scores).subspan(i * width, width),
                                                    test_labels)});
    return all;
}

namespace {

Shard shard_with(const DataSet& data, const ShardBlock& training)
{
    const auto test_rows = data.rows(Split::test);
    std::vector<ShardBlock> blocks;
    blocks.emplace_back(training, 0, data.rows(Split::train));
    if (test_rows > 0) blocks.emplace_back(data, RowSet{Split::test, 0, test_rows});
    return {std::move(blocks), data.columns()};
}

}  // namespace

Evaluator::Evaluator(const Scoring& scoring, const ShardBlock* training)
    : scoring_(scoring), shard_(training && scoring.rows.all()
                                    ? shard_with(scoring.data, *training)
                                    : scoring.rows.read(scoring.data, scoring.rows.share(1, 0))),
      parameters_(parameters_of(shard_, scoring.model)),
      test_labels_(scoring.rows.test_labels(scoring.data))
{
}

Scored Evaluator::score_one(const Point& point) const
{
    const auto& model = scoring_.model;
    std::vector<double> parameters(parameters_.size()), answer(scores_length(1, shard_, model));
    parameters_.gather(*point, parameters.data());
    const std::span<const double> one = parameters, all = answer;
    score({&one, 1}, shard_, model, answer);
    return combine_scores(scoring_, 1, {&all, 1}, test_labels_)[0];
}

void Evaluator::score_all(const NextModels& next, const TakeScored& scored) const
{
    for (auto models = next(); !models.empty(); models = next()) {
        std::vector<Scored> results(models.size());
        in_parallel(models.size(), usable_cores(),
                    [&](std::size_t i) { results[i] = score_one(models[i]); });
        for (const auto& result : results) scored(result);
    }
}

}  // namespace quorate
