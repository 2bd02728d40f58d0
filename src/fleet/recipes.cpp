// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/recipes.hpp"

#include <exception>
#include <functional>

#include "fleet/chunk.hpp"

namespace quorate {

Recipes::Recipes(const Needs& needs, const Liars& liars, std::int64_t columns)
    : columns_(columns), liars_(liars)
{
    for (const auto& block : needs.blocks) {
        block_rows_.push_back(block.count);
        total_rows_ += block.count;
    }
    for (const auto& blocks : needs.shard) {
        shard_rows_.push_back(0);
        for (const int block : blocks)
            shard_rows_.back() += block_rows_[static_cast<std::size_t>(block)];
    }
}

Recipes::Recipes(const Needs& needs, const Liars& liars, const DataSet& data, const Model& model)
    : Recipes(needs, liars, data.columns())
{
    model_ = &model;
    chunk_rows_ = rows_in_chunk(data);
    std::map<std::vector<int>, std::shared_ptr<const Store>> shared;
    for (const auto& blocks : needs.shard) {
        auto& store = shared[blocks];
        if (!store) {
            std::vector<RowSet> sets;
            std::vector<std::size_t> place(needs.blocks.size());
            for (const int block : blocks) {
                const auto& rows = needs.blocks[static_cast<std::size_t>(block)];
                place[static_cast<std::size_t>(block)] = sets.size();
                sets.push_back({Split::train, rows.first, rows.count});
            }
            store = std::make_shared<Store>(Store{Shard(data, sets), std::move(place)});
        }
        stores_.push_back(store);
    }
}

const Support& Recipes::support(Worker worker) const
{
    return model_ ? stores_[static_cast<std::size_t>(worker)]->shard.support() : nothing_;
}

std::vector<WorkerInfo> Recipes::workers() const
{
    std::vector<WorkerInfo> all;
    for (std::size_t i = 0; i < shard_rows_.size(); ++i)
        all.push_back(
            {static_cast<int>(i) + 1, "simulated", shard_rows_[i],
             payload(static_cast<Worker>(i)) / static_cast<std::int64_t>(sizeof(double))});
    return all;
}

std::int64_t Recipes::rows(const Part& part) const
{
    std::int64_t sum = 0;
    for (const auto& item : part.items) sum += block_rows_[static_cast<std::size_t>(item.block)];
    return sum;
}

std::int64_t Recipes::payload(Worker worker) const
{
    constexpr auto number = static_cast<std::int64_t>(sizeof(double));
    return number * (dry() ? columns_ : static_cast<std::int64_t>(support(worker).size()));
}

std::size_t Recipes::add(Worker worker, std::shared_ptr<const Plan> plan, int part,
                         std::int64_t draw, PointList inputs)
{
    const auto handle = recipes_.take();
    auto& recipe = recipes_.at(handle);
    recipe.worker = worker;
    recipe.plan = std::move(plan);
    recipe.part = part;
    recipe.draw = draw;
    recipe.inputs = std::move(inputs);
    recipe.computed = false;
    return handle;
}

void Recipes::compute(Recipe& recipe) const
{
    if (recipe.computed) return;
    recipe.computed = true;
    if (!model_) return;
    const auto& store = *stores_[static_cast<std::size_t>(recipe.worker)];
    const auto& chosen = store.shard.support();
    recipe.values.assign(chosen.size(), 0.0);
    recipe.loss = 0;
    std::vector<std::vector<double>> packed;
    for (const auto& point : recipe.inputs) {
        packed.emplace_back(chosen.size());
        chosen.gather(*point, packed.back().data());
    }
    for (const auto& item : recipe.plan->parts[static_cast<std::size_t>(recipe.part)].items) {
        const auto all =
            store.shard.block(store.place[static_cast<std::size_t>(item.block)]).view();
        for (std::int64_t row = 0; row < all.rows; row += chunk_rows_)
            recipe.loss += model_->add_gradient(
                all.slice(row, std::min(chunk_rows_, all.rows - row)),
                packed[static_cast<std::size_t>(item.input)], item.coefficient, recipe.values);
    }
    liars_.falsify(recipe.worker, recipe.draw, recipe.part, recipe.values);
}

void Recipes::prepare(std::span<const std::size_t> handles)
{
    if (!model_) return;
    std::exception_ptr error;
    const auto count = static_cast<std::ptrdiff_t>(handles.size());
#pragma omp parallel for schedule(dynamic)
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        try {  // an exception must not leave a parallel region
            compute(recipes_.at(handles[static_cast<std::size_t>(i)]));
        } catch (...) {
#pragma omp critical
            error = std::current_exception();
        }
    }
    if (error) std::rethrow_exception(error);
}

Values Recipes::values(std::size_t handle)
{
    auto& recipe = recipes_.at(handle);
    compute(recipe);
    return {support(recipe.worker), recipe.values, recipe.loss};
}

std::uint64_t Recipes::fingerprint(std::size_t handle)
{
    const auto& recipe = recipes_.at(handle);
    // Two honest replicas sum the same items, so their plans and points are the same objects.
    std::size_t hash = std::hash<const Plan*>()(recipe.plan.get()) ^
                       static_cast<std::size_t>(recipe.part) * 0x9e3779b97f4a7c15;
    for (const auto& point : recipe.inputs)
        hash = hash * 31 + std::hash<const void*>()(point.get());
    if (liars_.lies(recipe.worker)) hash += static_cast<std::size_t>(recipe.worker) + 1;
    return hash;
}

void Recipes::release(std::size_t handle)
{
    auto& recipe = recipes_.at(handle);
    recipe.plan.reset();
    recipe.inputs.clear();
    recipes_.give_back(handle);
}

}  // namespace quorate
