// SPDX-License-Identifier: BSD-2-Clause
#include "run/checked_estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace quorate {

namespace {

double norm(std::span<const double> x)
{
    double square = 0;
    for (const double one : x) square += one * one;
    return std::sqrt(square);
}

// Returns the sum of the norms of weighted contributions.
double sum_of_norms(Fleet& fleet, std::span<const Summand> terms)
{
    double sum = 0;
    for (const auto& term : terms)
        sum += std::abs(term.weight) * norm(fleet.values(term.arrival->handle).doubles());
    return sum;
}

// x / y, where 0 / 0 is 0.
double ratio(double x, double y) { return x == 0 ? 0 : x / y; }

// Has the larger of the two, and what is no number rather than any.
void raise(double& difference, double other)
{
    if (!(other <= difference)) difference = other;
}

}  // namespace

std::map<std::int64_t, std::set<Version>> versions_used(const trace::Trace& trace)
{
    std::map<std::pair<std::int64_t, std::int64_t>, std::set<Version>> versions;
    for (const auto& row : trace.arrivals)
        versions[{row.event, row.part}] = {row.version, row.version_oldest};
    for (const auto& row : trace.items) versions[{row.event, row.part}].insert(row.version);
    std::map<std::int64_t, std::set<Version>> used;
    for (const auto& row : trace.weights)
        if (const auto at = versions.find({row.event, row.part}); at != versions.end())
            used[row.round].insert(at->second.begin(), at->second.end());
    return used;
}

CheckedEstimates::CheckedEstimates(ComputedEstimates& computed, const trace::Trace& trace,
                                   const KeptModels& kept, double unit, Wire wire,
                                   std::set<std::int64_t> sample, std::vector<CheckedRound>& found)
    : computed_(computed), trace_(trace), kept_(kept), unit_(unit), wire_(wire),
      sample_(std::move(sample)), found_(found)
{
    std::set<Place> named;
    for (const auto& row : trace.weights)
        if (sampled(row.round)) {
            weights_[row.round].push_back(row);
            named.insert({row.event, row.part});
        }
    for (const auto& row : trace.arrivals)
        if (const Place place{row.event, row.part}; named.contains(place))
            places_[{row.task, static_cast<int>(row.part), row.draw, row.arrived}] = place;
    for (const auto& row : trace.measures) measures_[{row.event, row.part}] = row;
    for (const auto& [round, versions] : versions_used(trace))
        if (sampled(round)) wanted_.insert(versions.begin(), versions.end());
}

trace::Measure CheckedEstimates::measure(const Needs&, Fleet&, const Arrival& arrival,
                                         std::int64_t event)
{
    const auto at = measures_.find({event, arrival.part});
    if (at == measures_.end())
        throw Failure(fmt::format("the trace has no measure of event {}", event));
    return at->second;
}

void CheckedEstimates::combine(Fleet& fleet, std::span<const Summand> placed)
{
    if (sampled(round_ + 1)) computed_.combine(fleet, placed);
}

PointList CheckedEstimates::form(const std::shared_ptr<const std::vector<Operand>>& operands)
{
    if (sampled(round_ + 1)) return computed_.form(operands);
    return PointList(operands->size(), std::make_shared<NumberVector>());
}

// Gives each term the weight that the trace has for it.
// @return whether there is one for each
bool CheckedEstimates::weigh(std::vector<Summand>& terms, double divisor)
{
    for (auto& term : terms) {
        const auto& of = *term.arrival;
        const auto place = places_.find({of.task, of.part, of.draw, of.arrived});
        if (place == places_.end()) return false;
        auto& weights = left_[place->second];
        if (weights.empty()) return false;
        term.weight = weights.back() * divisor;
        weights.pop_back();
    }
    return true;
}

void CheckedEstimates::form(const Needs& needs, Fleet& fleet, const Step& step,
                            std::span<const Summand> placed, std::span<const Summand> terms,
                            SumTable*, trace::Round& row)
{
    const auto& recorded = trace_.rounds.at(static_cast<std::size_t>(round_++));
    row.inner = recorded.inner;
    if (!sampled(round_)) return;
    auto& found = found_.emplace_back(round_, placed.size() + terms.size());
    found.bound = std::max(1e-9, 4 * unit_ * static_cast<double>(found.terms));
    left_.clear();
    auto& weights = weights_[round_];
    for (auto at = weights.rbegin(); at != weights.rend(); ++at)
        left_[{at->event, at->part}].push_back(at->weight);
    std::vector<Summand> of_placed(placed.begin(), placed.end()),
        of_terms(terms.begin(), terms.end());
    if (!weigh(of_placed, step.divisor) || !weigh(of_terms, step.divisor)) {
        found.why = "a contribution of its estimate has no weight";
        return;
    }
    if (weights.size() != found.terms) {
        found.why = "a weight is of no contribution of its estimate";
        return;
    }
    auto computed = row;
    computed_.form(needs, fleet, step, of_placed, of_terms, nullptr, computed);
    scale_ = (sum_of_norms(fleet, of_placed) + sum_of_norms(fleet, of_terms)) / step.divisor;
    found.difference = ratio(std::abs(computed.gradient_norm - recorded.gradient_norm), scale_);
}

// Makes the update with the estimate, and compares the model with the one that the trace keeps.
void CheckedEstimates::compare_update(double step_size, Version version)
{
    const auto last = kept_.before(version);
    if (!kept_.has_model(version) || !kept_.has_model(last)) return;
    auto state = kept_.at(last);
    if (state.told != Optimizer::Told::state) return;
    auto& found = found_.back();
    found.update = true;
    const auto next = std::make_shared<NumberVector>(ConstNumbers(state.point));
    computed_.update(*state.rule, step_size, version, next);
    auto difference = state.rule->model().doubles();
    const auto recorded = kept_.model(version);
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= recorded[i];
    // The models themselves are rounded.
    constexpr double unit = std::numeric_limits<double>::epsilon() / 2;
    const double length = norm(recorded);
    const double moved = step_size * scale_ > 0 ? step_size * scale_ : length;
    found.bound += ratio(4 * unit * length, moved);
    raise(found.difference, ratio(norm(difference), moved));
}

void CheckedEstimates::update(Optimizer&, double step_size, Version version,
                              const std::shared_ptr<NumberVector>& next)
{
    if (sampled(round_) && found_.back().why.empty()) compare_update(step_size, version);
    if (!wanted_.contains(version)) return;
    copy(kept_.at(version).point, *next);
    round(wire_, *next);
}

}  // namespace quorate
