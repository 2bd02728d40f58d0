// SPDX-License-Identifier: BSD-2-Clause
// How the engine forms an estimate of what contributions hold: sums in a fixed order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.hpp"
#include "engine/engine.hpp"
#include "engine/vectors.hpp"

namespace quorate {

std::int64_t Engine::staleness(Version version, int model) const
{
    if (optimizers_.size() == 1) return points_.newest() - version;
    return updates_[static_cast<std::size_t>(model)] -
           update_of_[static_cast<std::size_t>(version)];
}

// estimate += weight * values. Local steps also shrink what their worker does not touch.
void Engine::add(const Live& live, double weight, bool displacement)
{
    const auto values = fleet_->values(live.arrival.handle);
    values.support.add(weight, values.packed, estimate_);
    if (!displacement || options_.l2 == 0 || values.support.full() || estimate_.empty()) return;
    const double shrunk =
        std::pow(1 - 2 * options_.l2 * live.step, static_cast<double>(live.arrival.samples)) - 1;
    const auto& point = *points_.at(live.arrival.newest);
    std::vector<double> touched(values.support.size());
    values.support.gather(point, touched.data());
    for (std::size_t i = 0; i < point.size(); ++i) estimate_[i] += weight * shrunk * point[i];
    values.support.add(-weight * shrunk, touched, estimate_);
}

void Engine::carry_out(const Combine& combine)
{
    has_formed_ = true;
    operands_ = {};
    formed_.assign(options_.residual && !past_
                       ? static_cast<std::size_t>(options_.rows * options_.outputs)
                       : 0,
                   0.0);
    add_placed(combine.terms, formed_);
    if (!formed_.empty()) formed_loss_ = options_.residual(formed_);
}

// sum += what the terms say. An empty sum is that of a dry run, or of the past.
void Engine::add_placed(std::vector<Placed> terms, std::span<double> sum)
{
    std::ranges::stable_sort(
        terms, {}, [this](const Placed& term) { return place_of(live(term.contribution)); });
    std::vector<std::size_t> handles;
    for (const auto& term : terms) {
        auto& one = live(term.contribution);
        if (one.used == 0) handles.push_back(one.arrival.handle);
        one.used = round_ + 1;
        combined_.insert(one.arrival.worker);
    }
    if (sum.empty()) return;
    fleet_->prepare(handles);
    for (const auto& [contribution, weight, from, at] : terms) {
        const auto values = fleet_->values(live(contribution).arrival.handle).packed;
        const auto first = at * options_.outputs;
        const auto count = std::min(from.count * options_.outputs, std::ssize(sum) - first);
        const auto* source = values.data() + from.first * options_.outputs;
        auto* target = sum.data() + first;
        for (std::int64_t i = 0; i < count; ++i) target[i] += weight * source[i];
    }
}

PointList Engine::form(const std::shared_ptr<const std::vector<Operand>>& operands)
{
    if (operands != operands_.first) {
        operands_ = {operands, {}};
        for (const auto& operand : *operands) operands_.second.push_back(form(operand));
    }
    return operands_.second;
}

// Zeros stand for rows behind the last one.
Point Engine::form(const Operand& operand) const
{
    auto vector = std::make_shared<std::vector<double>>();
    if (!options_.residual || past_) return vector;
    for (const auto& piece : operand) {
        const auto begin = vector->size();
        vector->resize(begin + static_cast<std::size_t>(piece[0].rows.count * options_.outputs));
        for (const auto& [rows, weight] : piece) {
            const auto count = std::min(rows.count, options_.rows - rows.first) * options_.outputs;
            const auto* source = formed_.data() + rows.first * options_.outputs;
            for (std::int64_t i = 0; i < count; ++i)
                (*vector)[begin + static_cast<std::size_t>(i)] += weight * source[i];
        }
    }
    return vector;
}

void Engine::form_estimate(const Step& step, trace::Round& row)
{
    // Fixed sums: terms by (worker, task, part), each sum from +0.0, whatever the order of arrival.
    std::vector<std::pair<Live*, double>> terms;
    for (const auto& term : step.terms) terms.emplace_back(&live(term.contribution), term.weight);
    std::ranges::sort(terms, {}, [](const auto& term) { return place_of(*term.first); });
    for (const auto& [live, weight] : terms) live->used = round_ + 1;
    if (past_) {
        add_placed(step.placed, {});
        combined_.clear();
        has_formed_ = false;
        return;
    }
    std::vector<std::size_t> handles;
    for (const auto& [live, weight] : terms) handles.push_back(live->arrival.handle);
    fleet_->prepare(handles);
    std::fill(estimate_.begin(), estimate_.end(), 0.0);
    add_placed(step.placed, estimate_);
    double loss = 0, stale = 0;
    for (const auto& [live, weight] : terms) {
        add(*live, weight, step.displacement);
        const auto& arrival = live->arrival;
        row.samples += arrival.samples;
        loss += fleet_->values(arrival.handle).loss;
        double sum = 0;
        for (const auto version : arrival.versions)
            sum += static_cast<double>(staleness(version, step.model));
        stale += arrival.versions.empty()
                     ? static_cast<double>(staleness(arrival.newest, step.model))
                     : sum / static_cast<double>(arrival.versions.size());
        row.staleness_max = std::max(row.staleness_max, staleness(arrival.oldest, step.model));
    }
    if (std::exchange(has_formed_, false)) {
        row.samples = options_.rows;
        loss = formed_loss_;
        for (const auto& [live, weight] : terms) combined_.insert(live->arrival.worker);
        row.used = std::ssize(combined_);
        combined_.clear();
    } else {
        for (std::size_t i = 0; i < terms.size(); ++i)  // workers, who may have sent several parts
            row.used +=
                i == 0 || terms[i].first->arrival.worker != terms[i - 1].first->arrival.worker;
    }
    row.staleness_mean = terms.empty() ? 0 : stale / static_cast<double>(terms.size());
    row.loss_estimate = row.samples > 0 ? loss / static_cast<double>(row.samples) : 0;
    // Mean and norm in blocks that stay in cache.
    constexpr std::size_t block = 4096;
    double square = 0;
    for (std::size_t first = 0; first < estimate_.size(); first += block) {
        const auto mean =
            std::span(estimate_).subspan(first, std::min(block, estimate_.size() - first));
        divide(mean, step.divisor);
        square += inner_product(mean, mean);
    }
    row.gradient_norm = std::sqrt(square);
    if (!std::isfinite(square))
        throw Failure(fmt::format(
            "the estimate of round {} is not finite: a worker sent NaN or infinity, or the step "
            "of {} is too large: use a smaller --step, or a scheme that tolerates Byzantine "
            "workers",
            round_ + 1, options_.schedule(batches_)));
}

void Engine::clip_estimate(double norm)
{
    if (norm <= options_.clip) return;
    for (auto& element : estimate_) element *= options_.clip / norm;
}

double Engine::inner_with_last()
{
    if (!needs_.inner_product) return 0;
    if (past_) return past_->inner.at(static_cast<std::size_t>(round_));
    const double inner = inner_product(estimate_, last_estimate_);
    last_estimate_ = estimate_;
    return inner;
}

}  // namespace quorate
