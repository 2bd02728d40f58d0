// SPDX-License-Identifier: BSD-2-Clause
#include "compute/trial.hpp"

#include <cmath>

#include "compute/begin_work.hpp"

namespace quorate {

bool train(const Shard& blocks, const Support& support, std::span<const std::size_t> trained,
           const DataShape& shape, const TrialOptions& trial, Optimizer& optimizer)
{
    Needs needs;
    Part part;
    BlockPlaces places;
    std::int64_t rows = 0;
    for (const auto i : trained) {
        const auto count = blocks.block(i).view().rows;
        const auto block = static_cast<int>(needs.blocks.size());
        part.items.push_back({block});
        places.emplace(block, i);
        needs.blocks.push_back({rows, count});
        rows += count;
    }
    const Batches batches(needs, trial.seed, std::min(trial.batch, rows));
    const Computing computing{trial.model, &batches, trial.model.chunk_rows(shape), 1};
    const auto whole = optimizer.model();
    std::vector<double> point = whole.doubles(), packed(support.size()), sum(support.size()),
                        estimate(point.size());
    for (std::int64_t round = 0; round < trial.rounds; ++round) {
        support.gather(point, packed.data());
        const auto gradient =
            begin_work(computing, {blocks, places}, part, {{packed, round}}, {}, sum);
        while (!gradient->done()) gradient->step();
        std::ranges::fill(estimate, 0.0);
        support.add(1 / static_cast<double>(batches.samples()), sum, estimate);
        double square = 0;
        for (const double g : estimate) square += g * g;
        if (!std::isfinite(square)) return false;
        if (trial.clip > 0 && square > trial.clip * trial.clip)
            for (double& g : estimate) g *= trial.clip / std::sqrt(square);
        optimizer.tell_loss(gradient->losses().plain / static_cast<double>(batches.samples()));
        optimizer.update(estimate, trial.schedule(static_cast<double>(round)), point);
    }
    return true;
}

Quality quality_on(const Shard& blocks, const Support& support, std::size_t block,
                   const Model& model, ConstNumbers at)
{
    std::vector<double> packed(support.size());
    support.gather(at, packed.data());
    const auto rows = blocks.block(block).view();
    std::vector<double> scores(static_cast<std::size_t>(rows.rows * model.outputs()));
    model.score(rows, packed, scores);
    return model.loss().quality(scores, {rows.label, static_cast<std::size_t>(rows.rows)});
}

}  // namespace quorate
