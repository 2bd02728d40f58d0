// SPDX-License-Identifier: BSD-2-Clause
#include "engine/estimates.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace quorate {

namespace {

// The order of summation in operations of Eigen does not depend on the address of a vector, so that
// results agree to the last bit.
template <class Vector, class Value>
Eigen::Map<Vector> map(std::span<Value> x)
{
    return {x.data(), static_cast<Eigen::Index>(x.size())};
}

void divide(std::span<double> x, double divisor) { map<Eigen::VectorXd>(x) /= divisor; }

double inner_product(std::span<const double> x, std::span<const double> y)
{
    return map<const Eigen::VectorXd>(x).dot(map<const Eigen::VectorXd>(y));
}

}  // namespace

ComputedEstimates::ComputedEstimates(EstimateOptions options, const Needs& needs,
                                     const Points& points, std::size_t parameters)
    : options_(std::move(options)), points_(points), estimate_(parameters, 0.0)
{
    if (needs.projection) {
        Stream stream(options_.seed, Purpose::probe);
        probe_.resize(parameters);
        for (auto& element : probe_) element = stream.normal();
    }
    if (needs.inner_product) last_.resize(parameters);
}

trace::Measure ComputedEstimates::measure(const Needs& needs, Fleet& fleet, const Arrival& arrival,
                                          std::int64_t event)
{
    trace::Measure measure{event, arrival.part, 0, 0};
    if (needs.fingerprint)
        measure.fingerprint = static_cast<std::int64_t>(fleet.fingerprint(arrival.handle));
    if (needs.projection) {
        const auto values = fleet.values(arrival.handle);
        measure.projection = values.support.dot(values.packed, probe_);
    }
    return measure;
}

// estimate += weight * values. A worker decays in its local steps only the parameters that its rows
// touch, so the L2 decay of all others is added here.
void ComputedEstimates::add(Fleet& fleet, const Summand& term, bool displacement)
{
    const auto& arrival = *term.arrival;
    const auto weight = term.weight;
    const auto values = fleet.values(arrival.handle);
    values.support.add(weight, values.packed, estimate_);
    if (!displacement || options_.l2 == 0 || values.support.full() || estimate_.empty()) return;
    const double shrunk =
        std::pow(1 - 2 * options_.l2 * term.descent_step, static_cast<double>(arrival.samples)) - 1;
    const auto& point = *points_.at(arrival.newest);
    std::vector<double> touched(values.support.size());
    values.support.gather(point, touched.data());
    for (std::size_t i = 0; i < point.size(); ++i) estimate_[i] += weight * shrunk * point[i];
    values.support.add(-weight * shrunk, touched, estimate_);
}

void ComputedEstimates::combine(Fleet& fleet, std::span<const Summand> placed)
{
    operands_ = {};
    formed_.assign(
        options_.loss_derivatives ? static_cast<std::size_t>(options_.rows * options_.outputs) : 0,
        0.0);
    place(fleet, placed, formed_);
    formed_loss_ = formed_.empty() ? 0 : options_.loss_derivatives(formed_);
}

// sum += weight * values of each term, at the place that the term names. In a dry run the sum is
// empty.
void ComputedEstimates::place(Fleet& fleet, std::span<const Summand> placed,
                              std::span<double> sum) const
{
    if (sum.empty()) return;
    std::vector<std::size_t> handles;
    for (const auto& term : placed)
        if (!term.used_before) handles.push_back(term.arrival->handle);
    fleet.prepare(handles);
    for (const auto& term : placed) {
        const auto values = fleet.values(term.arrival->handle).packed;
        const auto first = term.at * options_.outputs;
        const auto count = std::min(term.from.count * options_.outputs, std::ssize(sum) - first);
        const auto* source = values.data() + term.from.first * options_.outputs;
        auto* target = sum.data() + first;
        for (std::int64_t i = 0; i < count; ++i) target[i] += term.weight * source[i];
    }
}

PointList ComputedEstimates::form(const std::shared_ptr<const std::vector<Operand>>& operands)
{
    if (operands != operands_.first) {
        operands_ = {operands, {}};
        for (const auto& operand : *operands) operands_.second.push_back(form(operand));
    }
    return operands_.second;
}

// Makes one operand from the formed vector. Rows behind the last training row count as zeros.
Point ComputedEstimates::form(const Operand& operand) const
{
    auto vector = std::make_shared<std::vector<double>>();
    if (!options_.loss_derivatives) return vector;
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

void ComputedEstimates::form(const Needs& needs, Fleet& fleet, const Step& step,
                             std::span<const Summand> placed, std::span<const Summand> terms,
                             trace::Round& row)
{
    std::vector<std::size_t> handles;
    for (const auto& term : terms) handles.push_back(term.arrival->handle);
    fleet.prepare(handles);
    std::fill(estimate_.begin(), estimate_.end(), 0.0);
    place(fleet, placed, estimate_);
    double loss = 0;
    for (const auto& term : terms) {
        add(fleet, term, step.displacement);
        loss += fleet.values(term.arrival->handle).loss;
    }
    loss = std::exchange(formed_loss_, {}).value_or(loss);
    row.loss_estimate = row.samples > 0 ? loss / static_cast<double>(row.samples) : 0;
    // Mean and norm are computed block by block, so that each block is still in cache for the norm.
    constexpr std::size_t block = 4096;
    double square = 0;
    for (std::size_t first = 0; first < estimate_.size(); first += block) {
        const auto mean =
            std::span(estimate_).subspan(first, std::min(block, estimate_.size() - first));
        divide(mean, step.divisor);
        square += inner_product(mean, mean);
    }
    row.gradient_norm = std::sqrt(square);
    if (options_.clip > 0 && row.gradient_norm > options_.clip)
        for (auto& element : estimate_) element *= options_.clip / row.gradient_norm;
    if (!needs.inner_product) return;
    row.inner = inner_product(estimate_, last_);
    last_ = estimate_;
}

void ComputedEstimates::update(Optimizer& optimizer, bool displacement, double step_size, Version,
                               const std::shared_ptr<std::vector<double>>& next)
{
    if (displacement)
        optimizer.move(estimate_, *next);
    else
        optimizer.update(estimate_, step_size, *next);
}

void ComputedEstimates::forget_last() { std::ranges::fill(last_, 0.0); }

}  // namespace quorate
