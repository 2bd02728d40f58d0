// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/recipes.hpp"

#include <exception>
#include <functional>

namespace quorate {

Recipes::Recipes(const Needs& needs, const Batches& batches, const Liars& liars,
                 std::int64_t parameters)
    : parameters_(parameters), batches_(batches), liars_(liars)
{
    for (const auto& blocks : needs.shard) {
        shard_rows_.push_back(0);
        for (const int block : blocks) shard_rows_.back() += batches_.rows(block);
    }
}

Recipes::Recipes(const Needs& needs, const Liars& liars, const DataSet& data,
                 const Computing& computing)
    : Recipes(needs, computing.batches, liars, computing.model.parameters(data.columns()))
{
    computing_ = &computing;
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
            Shard shard(data, sets);
            auto touched = parameters_of(shard, computing.model);
            store = std::make_shared<Store>(
                Store{std::move(shard), std::move(touched), std::move(place)});
        }
        stores_.push_back(store);
    }
}

const Support& Recipes::support(Worker worker) const
{
    return dry() ? nothing_ : stores_[static_cast<std::size_t>(worker)]->support;
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

std::int64_t Recipes::payload(Worker worker) const
{
    constexpr auto number = static_cast<std::int64_t>(sizeof(double));
    return number * (dry() ? parameters_ : static_cast<std::int64_t>(support(worker).size()));
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
    if (dry()) return;
    const auto& store = *stores_[static_cast<std::size_t>(recipe.worker)];
    recipe.values.resize(store.support.size());
    std::vector<std::vector<double>> packed;
    for (const auto& point : recipe.inputs) {
        packed.emplace_back(store.support.size());
        store.support.gather(*point, packed.back().data());
    }
    PartSum sum(*computing_, store.shard, store.place,
                recipe.plan->parts[static_cast<std::size_t>(recipe.part)], recipe.draw,
                {packed.begin(), packed.end()}, recipe.values);
    while (!sum.done()) sum.step();
    recipe.loss = sum.loss();
    liars_.falsify(recipe.worker, recipe.draw, recipe.part, recipe.values);
}

void Recipes::prepare(std::span<const std::size_t> handles)
{
    if (dry()) return;
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
