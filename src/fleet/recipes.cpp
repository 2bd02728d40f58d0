// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/recipes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "base/parallel.hpp"
#include "compute/begin_work.hpp"
#include "scheme/whole_items.hpp"

namespace quorate {

Recipes::Recipes(const Needs& needs, const Batches& batches, const ByzantineWorkers& byzantine,
                 std::int64_t parameters, Wire wire, std::shared_ptr<const Compressor> compressor)
    : parameters_(parameters), wire_(wire), compressor_(std::move(compressor)), batches_(&batches),
      byzantine_(byzantine)
{
    for (Worker worker = 0; worker < std::ssize(needs.shard); ++worker)
        rows_.push_back(rows_of(needs, worker));
}

Recipes::Recipes(const Needs& needs, const ByzantineWorkers& byzantine, const DataSet& data,
                 const Computing& computing)
    : Recipes(needs, *computing.batches, byzantine, computing.model.parameters(data.columns()),
              computing.wire, computing.compression.compressor)
{
    computing_.emplace(computing);
    data_ = &data;
    if (data.dense() && needs.coded.empty())
        training_ = std::make_shared<const ShardBlock>(
            data, RowSet{Split::train, 0, data.rows(Split::train)});
    stores_.resize(needs.shard.size());
    std::vector<Worker> all(needs.shard.size());
    std::iota(all.begin(), all.end(), 0);
    fill_stores(needs, all);
}

void Recipes::reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members)
{
    coding_ = std::move(coding);
    batches_ = &coding_->batches;
    cached_.clear();
    const auto most = static_cast<std::size_t>(*std::ranges::max_element(members)) + 1;
    rows_.resize(std::max(rows_.size(), most));
    if (!dry()) stores_.resize(rows_.size());
    for (std::size_t i = 0; i < members.size(); ++i)
        rows_[static_cast<std::size_t>(members[i])] =
            rows_of(coding_->needs, static_cast<Worker>(i));
    if (dry()) return;
    computing_->batches = batches_;
    fill_stores(coding_->needs, members);
}

void Recipes::fill_stores(const Needs& needs, std::span<const Worker> members)
{
    std::map<std::vector<int>, std::shared_ptr<const Store>> by_blocks;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto& blocks = needs.shard[i];
        const bool coded = !needs.coded.empty();  // then no two workers store the same rows
        auto store = coded ? nullptr : by_blocks[blocks];
        if (!store)
            store = std::make_shared<const Store>(*data_, needs, static_cast<Worker>(i),
                                                  computing_->model, training_.get());
        if (!coded) by_blocks[blocks] = store;
        stores_[static_cast<std::size_t>(members[i])] = store;
    }
}

std::shared_ptr<const ShardBlock> Recipes::give_up_rows()
{
    stores_.clear();
    return std::exchange(training_, nullptr);
}

std::vector<WorkerInfo> Recipes::workers() const
{
    std::vector<WorkerInfo> all;
    all.reserve(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
        all.push_back(
            {static_cast<int>(i) + 1, "simulated", rows_[i], width(static_cast<Worker>(i))});
    return all;
}

std::int64_t Recipes::width(Worker worker) const
{
    return dry() ? parameters_ : static_cast<std::int64_t>(store(worker).support().size());
}

std::int64_t Recipes::number() const { return static_cast<std::int64_t>(bytes_of(wire_)); }

std::int64_t Recipes::payload(Worker worker) const { return number() * width(worker); }

Support Recipes::support(std::span<const Worker> workers) const
{
    if (dry()) return Support::all(parameters_);
    std::vector<const Support*> supports;
    for (const auto worker : workers) supports.push_back(&store(worker).support());
    return union_of(supports, parameters_);
}

std::int64_t Recipes::payload(std::span<const Worker> workers) const
{
    return number() * static_cast<std::int64_t>(support(workers).size());
}

std::int64_t Recipes::operand_bytes(const TaskContext& context) const
{
    if (!context.operands) return 0;
    std::int64_t rows = 0;
    for (const auto& operand : *context.operands)
        for (const auto& piece : operand) rows += piece[0].rows.count;
    return number() * rows * outputs();
}

std::int64_t Recipes::payload(Worker worker, const Part& part) const
{
    const auto support = static_cast<std::size_t>(width(worker));
    const auto length = length_of(part, support, static_cast<std::size_t>(parameters_), outputs());
    return static_cast<std::int64_t>(compressor_ ? compressor_->bytes(length)
                                                 : length * bytes_of(wire_));
}

// The work of a row or column of a product in rows of gradients, as if the data were dense (load_of
// in compute/store.cpp).
double Recipes::dry_load(Item::Operation operation) const
{
    constexpr double half = 0.5;
    if (operation != Item::Operation::column_product) return half;
    return half * static_cast<double>(batches_->rows()) / static_cast<double>(parameters_);
}

std::int64_t Recipes::load(Worker worker, const Part& part) const
{
    const auto rows = batches_->samples(part);
    if (part.items.empty() || !part.items[0].is_product()) return rows;
    const auto operation = part.items[0].operation;
    const double each = dry() ? dry_load(operation) : store(worker).view().factor(operation).second;
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(rows) * each));
}

std::int64_t Recipes::micro_batch(const Budget& budget) const
{
    constexpr std::int64_t of_dry_runs = 16;
    if (budget.micro_batch > 0) return budget.micro_batch;
    return dry() ? of_dry_runs : quorate::micro_batch(*computing_, {});
}

std::int64_t Recipes::samples(const Budget& budget, const Part& part) const
{
    return budget.samples > 0 ? budget.samples : batches_->samples(part);
}

// Honest replicas sum the same items at the same points. So their plans and points are the same
// objects, and hashing addresses suffices.
std::size_t Recipes::hash(const Plan* plan, const TaskContext& context, const Made& made) const
{
    std::size_t hash =
        std::hash<const Plan*>()(plan) ^ static_cast<std::size_t>(made.part) * 0x9e3779b97f4a7c15;
    for (const auto& point : context.points)
        hash = hash * 31 + std::hash<const void*>()(point.get());
    if (byzantine_.contains(made.worker)) hash += static_cast<std::size_t>(made.worker) + 1;
    return hash;
}

std::size_t Recipes::add(const std::shared_ptr<const Plan>& plan, const TaskContext& context,
                         Made made)
{
    if (dry()) return hash(plan.get(), context, made);
    const auto handle = recipes_.take();
    auto& recipe = recipes_.at(handle);
    recipe.plan = plan;
    recipe.inputs = context.points;
    const auto& [budget, step] = std::tie(context.control.budget, context.control.step);
    recipe.extent = {.samples = {}, .micro_batch = budget.micro_batch, .step = step};
    const auto& part = plan->parts[static_cast<std::size_t>(made.part)];
    if (takes_whole_items(budget, part))
        recipe.extent.items = whole_items(*batches_, part, made.samples);
    else if (budget.limited())
        recipe.extent.samples = made.samples;
    recipe.keys.clear();
    for (const auto version : context.inputs)
        recipe.keys.push_back(context.control.key(made.draw, version));
    recipe.made = std::move(made);
    recipe.computed = false;
    place_states(recipe);
    return handle;
}

// Finds the state that a task goes on from, and where it leaves its own.
void Recipes::place_states(Recipe& recipe)
{
    recipe.from = recipe.to = nullptr;
    const auto& local = recipe.made.local;
    if (recipe.made.task < local.kept) return;
    const auto worker = static_cast<std::size_t>(recipe.made.worker);
    if (worker >= left_.size()) left_.resize(worker + 1);
    auto& left = left_[worker];
    std::erase_if(left, [&](const auto& one) { return !may_name(local, one.first); });
    if (local.after >= 0) recipe.from = left.at(local.after);
    recipe.to = left[recipe.made.task] = std::make_shared<Left>();
}

// A state of an earlier life, or that was not computed because it was in the history of a resumed
// run, is as if it were not there.
StatePlaces Recipes::places(const Recipe& recipe) const
{
    const auto& from = recipe.from;
    if (from && from->life < 0 && life_ == 0)
        throw std::logic_error("local steps go on from steps that were not computed");
    return {.from = from && from->life == life_ ? &from->state : nullptr,
            .to = recipe.to ? &recipe.to->state : nullptr};
}

// What local steps lead to is computed again in another life, as in the run that was resumed.
bool Recipes::is_computed(const Recipe& recipe) const
{
    return recipe.computed && (!recipe.to || recipe.to->life == life_);
}

std::size_t Recipes::add_late(Worker worker)
{
    if (dry()) return 0;
    const auto handle = recipes_.take();
    recipes_.at(handle).made.worker = worker;
    recipes_.at(handle).computed = true;
    return handle;
}

std::shared_ptr<CachedRecipe> Recipes::cache(Worker worker, int block, Version version, Point point,
                                             std::int64_t key)
{
    const auto make = [&] {
        return std::make_shared<CachedRecipe>(
            CachedRecipe{worker, block, std::move(point), key, {.version = version, .values = {}}});
    };
    if (dry()) return make();
    if (cached_.size() >= cached_at_most_) {
        std::erase_if(cached_, [](const auto& one) { return one.second.expired(); });
        cached_at_most_ = 2 * cached_.size() + 1024;
    }
    auto& known = cached_[{&store(worker), block, version, key}];
    auto cached = known.lock();
    if (!cached) known = cached = make();
    return cached;
}

void Recipes::compute(CachedRecipe& cached) const
{
    if (cached.computed) return;
    cached.computed = true;
    const auto& from = store(cached.worker);
    const auto point = from.support().gathered(*cached.point);
    cached.gradient.values = NumberVector(point.size(), point.precision());
    const Part part{{Item{.block = cached.block}}};
    const auto work = begin_work(*computing_, from.view(), part, {{point, cached.key}}, {},
                                 cached.gradient.values);
    while (!work->done()) work->step();
    cached.gradient.samples = work->samples();
    cached.gradient.loss = work->losses().plain;
}

void Recipes::compute(Recipe& recipe) const
{
    if (is_computed(recipe)) return;
    recipe.computed = true;
    const auto& made = recipe.made;
    const auto& from = store(made.worker);
    const auto& part = recipe.plan->parts[static_cast<std::size_t>(made.part)];
    recipe.values = NumberVector(
        length_of(part, from.support().size(), static_cast<std::size_t>(parameters_), outputs()),
        precision());
    if (is_cached(part)) {
        std::vector<const CachedGradient*> cached;
        for (const auto& one : made.cached) {
            compute(*one);
            cached.push_back(&one->gradient);
        }
        recipe.losses = add_up(part, cached, recipe.values);
    } else {
        std::vector<NumberVector> points;
        std::vector<At> at;
        for (std::size_t i = 0; i < recipe.keys.size(); ++i) {
            points.push_back(from.support().gathered(*recipe.inputs[i]));
            at.push_back({points.back(), recipe.keys[i]});
        }
        for (std::size_t i = recipe.keys.size(); i < recipe.inputs.size(); ++i)
            at.push_back({*recipe.inputs[i], 0});  // operands
        const auto work = begin_work(*computing_, from.view(), part, std::move(at), recipe.extent,
                                     recipe.values, {.states = places(recipe)});
        while (!work->done()) work->step();
        recipe.losses = work->losses();
    }
    byzantine_.corrupt(made.worker, made.draw, made.part, recipe.values);
    if (compressor_) {
        std::vector<std::byte> sent(compressor_->bytes(recipe.values.size()));
        compress(computing_->compression, made.worker, made.draw, made.part, places(recipe),
                 recipe.values, sent.data());
    } else {
        round(wire_, recipe.values);
    }
    if (recipe.to) recipe.to->life = life_;
}

void Recipes::prepare(std::span<const std::size_t> handles)
{
    if (dry()) return;
    // Cached gradients first, because several contributions may share one.
    std::vector<CachedRecipe*> cached;
    for (const auto handle : handles)
        for (const auto& one : recipes_.at(handle).made.cached) cached.push_back(one.get());
    std::ranges::sort(cached);
    cached.erase(std::unique(cached.begin(), cached.end()), cached.end());
    in_parallel(cached.size(), usable_cores(), [&](std::size_t i) { compute(*cached[i]); });
    in_parallel(handles.size(), usable_cores(),
                [&](std::size_t i) { compute(recipes_.at(handles[i])); });
}

Values Recipes::values(std::size_t handle)
{
    if (dry()) return {nothing_, {}, {}};
    auto& recipe = recipes_.at(handle);
    compute(recipe);
    return {store(recipe.made.worker).support(), packed(recipe.values), recipe.losses};
}

void Recipes::release(std::size_t handle)
{
    if (dry()) return;
    auto& recipe = recipes_.at(handle);
    recipe.plan.reset();
    recipe.inputs.clear();
    recipe.from = recipe.to = nullptr;
    recipe.made = {};
    recipes_.give_back(handle);
}

}  // namespace quorate
