// SPDX-License-Identifier: BSD-2-Clause
#include "run/history.hpp"

#include <memory>

namespace quorate {

namespace {

Recipes recipes_of(const Training& training, const Computing& computing, bool computes)
{
    if (computes) return {training.coding->needs, training.byzantine, *training.data, computing};
    return {training.coding->needs, training.coding->batches,
            training.byzantine,     training.width(),
            training.wire,          training.compression.compressor};
}

// Whether contributions are still in use.
bool uses_some(const Resumption& resumed) { return !resumed.checkpoint.snapshot.arrivals.empty(); }

// The points of a checkpoint, for contributions of an engine that has slices of them.
std::map<Version, Point> whole_points(const Training& training, const Resumption& resumed)
{
    std::map<Version, Point> points;
    for (const auto& [version, point] : resumed.checkpoint.points)
        points[version] = std::make_shared<const NumberVector>(
            ConstNumbers(point.read(0, point.size)), training.precision());
    return points;
}

}  // namespace

History::History(const Training& training, const Resumption& resumed,
                 const std::optional<ShareRange>& share, bool computes)
    : computing(training.computing()),
      recipes(recipes_of(training, computing, computes && uses_some(resumed))),
      fleet(recipes, resumed.trace, static_cast<std::size_t>(resumed.workers()),
            share && computes && uses_some(resumed) ? whole_points(training, resumed)
                                                    : std::map<Version, Point>())
{
}

void restore(const Optimizers& optimizers, const Checkpoint& checkpoint,
             const std::optional<ShareRange>& share)
{
    for (std::size_t model = 0; model < optimizers.size(); ++model) {
        const auto& memory = checkpoint.optimizers.at(model);
        optimizers[model]->updates() = memory.updates;
        auto vectors = optimizers[model]->memory();
        for (std::size_t i = 0; i < vectors.size(); ++i)
            copy(ConstNumbers(slice_of(memory.vectors.at(i), vectors[i].size(), share)),
                 vectors[i]);
        optimizers[model]->set_state(memory.state);
    }
}

}  // namespace quorate
