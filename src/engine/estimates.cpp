// SPDX-License-Identifier: BSD-2-Clause
#include "engine/estimates.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "aggregator/vectors.hpp"
#include "base/median.hpp"
#include "base/parallel.hpp"
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

template <class T>
using Elements = Eigen::Matrix<T, Eigen::Dynamic, 1>;

// The inner product of a block. That of floats is added up as floats.
double inner_product(ConstNumbers x, ConstNumbers y)
{
    return x.visit([&]<class T>(std::span<const T> one) -> double {
        return map<const Elements<T>>(one).dot(map<const Elements<T>>(y.of<T>()));
    });
}

void divide(Numbers x, double divisor)
{
    x.visit([&]<class T>(std::span<T> all) { map<Elements<T>>(all) /= static_cast<T>(divisor); });
}

void scale(Numbers x, double factor)
{
    x.visit([&]<class T>(std::span<T> all) { map<Elements<T>>(all) *= static_cast<T>(factor); });
}

// Adds a range of x, if x has elements at all.
void add_range(ConstNumbers x, Numbers sum, std::size_t first, std::size_t last)
{
    if (!x.empty())
        quorate::add(1, x.subspan(first, last - first), sum.subspan(first, last - first));
}

}  // namespace

std::vector<std::vector<Weighted>> by_group(const Fleet& fleet, std::span<const Summand> terms)
{
    std::vector<std::vector<Weighted>> groups(static_cast<std::size_t>(fleet.groups()));
    for (const auto& term : terms) {
        const auto worker = term.arrival->worker;
        const auto group = fleet.workers()[static_cast<std::size_t>(worker)].group;
        groups[static_cast<std::size_t>(group)].push_back(
            {term.arrival->handle, term.weight, worker});
    }
    return groups;
}

ComputedEstimates::ComputedEstimates(EstimateOptions options, const Needs& needs,
                                     const Points& points, ConstNumbers model)
    : options_(std::move(options)), points_(points), estimate_(model.size(), model.precision()),
      last_(needs.looks_back() ? model.size() : 0, model.precision())
{
    if (needs.projection) {
        Stream stream(options_.seed, Purpose::probe);
        probe_.resize(model.size());
        for (auto& element : probe_) element = stream.normal();
    }
}

trace::Measure ComputedEstimates::measure(const Needs& needs, Fleet& fleet, const Arrival& arrival,
                                          std::int64_t event)
{
    trace::Measure measure{event, arrival.part, 0, 0};
    if (needs.fingerprint)
        measure.fingerprint = static_cast<std::int64_t>(fleet.fingerprint(arrival.handle));
    if (needs.projection) {
        const auto values = fleet.values(arrival.handle);
        measure.projection = std::visit(
            [&](auto packed) { return values.support.dot(packed, probe_); }, values.packed);
    }
    return measure;
}

// Collects what a step adds up, by group of workers. Groups whose sum the fleet has formed where
// the contributions are have that sum as their one addend.
ComputedEstimates::Sum ComputedEstimates::gather(Fleet& fleet, std::span<const Summand> terms,
                                                 bool displacement) const
{
    std::vector<std::size_t> handles;
    for (const auto& term : terms) handles.push_back(term.arrival->handle);
    fleet.prepare(handles);
    const auto groups = by_group(fleet, terms);
    const auto formed = fleet.sums(groups);
    Sum sum;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        auto& group = sum.groups.emplace_back(i < formed.size() && formed[i]);
        if (group.formed)
            group.addends.push_back({formed[i]->support, formed[i]->packed, 1});
        else
            for (const auto& one : groups[i]) {
                const auto values = fleet.values(one.handle);
                group.addends.push_back({values.support, values.packed, one.weight});
                const auto length =
                    std::visit([](auto packed) { return packed.size(); }, values.packed);
                if (!estimate_.empty() && length != values.support.size())
                    throw std::logic_error(
                        "a scheme adds up contributions that are folded, which "
                        "it has to place");
            }
    }
    if (displacement && options_.l2 != 0 && !estimate_.empty())
        for (const auto& term : terms)
            if (!fleet.support(term.arrival->worker).full())
                sum.decays.push_back(decay(fleet, term));
    return sum;
}

// A worker decays in its local steps only the parameters that its rows touch, so the L2 decay of
// all others is added here.
ComputedEstimates::Decay ComputedEstimates::decay(Fleet& fleet, const Summand& term) const
{
    const auto& arrival = *term.arrival;
    const auto kept =
        std::pow(1 - 2 * options_.l2 * term.descent_step, static_cast<double>(arrival.samples));
    Decay one{
        fleet.support(arrival.worker), term.weight * (kept - 1), *points_.at(arrival.newest), {}};
    one.touched = one.support.gathered(one.point);
    return one;
}

// Lists the nodes of the table that are to be formed anew, and forms their losses. In a dry run
// there is nothing to form.
std::vector<ComputedEstimates::Anew> ComputedEstimates::changed(Fleet& fleet, SumTable& table)
{
    std::vector<Anew> all;
    const auto changed = table.take_changed();
    if (estimate_.empty()) return all;
    std::vector<std::size_t> handles;
    const auto for_each_entry = [&](int node, auto f) {
        const auto [first, last] = table.children(node);
        for (int slot = first; slot < last; ++slot)
            for (const auto& entry : table.slot(slot).entries) f(table.slot(slot).weight, entry);
    };
    for (const int node : changed)
        if (table.is_lowest(node))
            for_each_entry(node,
                           [&](double, const auto& entry) { handles.push_back(entry.handle); });
    fleet.prepare(handles);
    nodes_.resize(static_cast<std::size_t>(table.nodes()));
    for (const int number : changed) {
        auto& node = nodes_[static_cast<std::size_t>(number)];
        node.losses = {};
        if (table.totals(number).count == 0) {
            node.sum = {};
            continue;
        }
        if (node.sum.empty()) node.sum = NumberVector(estimate_.size(), estimate_.precision());
        auto& addends = all.emplace_back(number).addends;
        if (table.is_lowest(number)) {
            for_each_entry(number, [&](double weight, const auto& entry) {
                const auto values = fleet.values(entry.handle);
                addends.push_back({values.support, values.packed, weight});
                node.losses += {values.losses.plain, weight * values.losses.coded};
            });
        } else {
            const auto [first, last] = table.children(number);
            for (int child = first; child < last; ++child)
                node.losses += nodes_[static_cast<std::size_t>(child)].losses;
        }
    }
    return all;
}

// Forms a range of parameters of a node anew. Its children have been formed.
void ComputedEstimates::add_up(const SumTable& table, const Anew& one, std::size_t first,
                               std::size_t last)
{
    auto& sum = nodes_[static_cast<std::size_t>(one.node)].sum;
    const auto range = Numbers(sum).subspan(first, last - first);
    clear(range);
    add(one.addends, range, first);
    if (table.is_lowest(one.node)) return;
    const auto [begin, end] = table.children(one.node);
    for (int child = begin; child < end; ++child)
        add_range(nodes_[static_cast<std::size_t>(child)].sum, sum, first, last);
}

// Adds up a range of parameters. @param of_table  the sum of the table; null or empty: there is
// none
// @param begun  whether it holds a sum already
void ComputedEstimates::add_up(const Sum& sum, const NumberVector* of_table, std::size_t first,
                               std::size_t last, bool begun)
{
    const auto range = Numbers(estimate_).subspan(first, last - first);
    if (!begun) clear(range);
    if (of_table) add_range(*of_table, estimate_, first, last);
    NumberVector of_group;
    for (const auto& [formed, addends] : sum.groups) {
        if (formed || sum.groups.size() == 1) {
            add(addends, range, first);
            continue;
        }
        if (addends.empty()) continue;
        if (of_group.empty()) of_group = NumberVector(range.size(), range.precision());
        clear(of_group);
        add(addends, of_group, first);
        round(options_.wire, of_group);
        quorate::add(1, of_group, range);
    }
    for (const auto& one : sum.decays) {
        quorate::add(one.weight, one.point.subspan(first, last - first), range);
        range.visit([&]<class T>(std::span<T> numbers) {
            one.support.add(-one.weight, ConstNumbers(one.touched).of<T>(), numbers, first);
        });
    }
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
void ComputedEstimates::place(Fleet& fleet, std::span<const Summand> placed, Numbers sum) const
{
    if (sum.empty()) return;
    std::vector<std::size_t> handles;
    for (const auto& term : placed)
        if (!term.used_before) handles.push_back(term.arrival->handle);
    fleet.prepare(handles);
    for (const auto& term : placed) {
        const auto values = fleet.values(term.arrival->handle);
        const auto first = term.at * options_.outputs;
        const auto count = std::min(term.from.count * options_.outputs,
                                    static_cast<std::int64_t>(sum.size()) - first);
        const auto begin = term.from.first * options_.outputs;
        sum.visit([&]<class T>(std::span<T> whole) {
            std::visit(
                [&](auto packed) {
                    if (count > 0 && begin + count > std::ssize(packed))
                        throw std::logic_error(
                            "a scheme places elements that a contribution does not have");
                    const auto* source = packed.data() + begin;
                    auto* target = whole.data() + first;
                    const auto weight = static_cast<T>(term.weight);
                    for (std::int64_t i = 0; i < count; ++i)
                        target[i] += weight * static_cast<T>(static_cast<double>(source[i]));
                },
                values.packed);
        });
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
    auto vector = std::make_shared<NumberVector>();
    if (!options_.loss_derivatives) return vector;
    for (const auto& piece : operand) {
        const auto begin = vector->size();
        vector->resize(begin + static_cast<std::size_t>(piece[0].rows.count * options_.outputs));
        for (const auto& [rows, weight] : piece) {
            const auto count = std::min(rows.count, options_.rows - rows.first) * options_.outputs;
            const auto* source = formed_.data() + rows.first * options_.outputs;
            const std::span<double> numbers = *vector;
            for (std::int64_t i = 0; i < count; ++i)
                numbers[begin + static_cast<std::size_t>(i)] += weight * source[i];
        }
    }
    round(options_.wire, *vector);
    return vector;
}

// Has the aggregator form the estimate, of vectors that are read block by block where they lie.
void ComputedEstimates::aggregate(const Needs& needs, Fleet& fleet, const Step& step,
                                  std::span<const Summand> terms)
{
    const auto sum = gather(fleet, terms, false);
    std::vector<Addend> addends;
    std::vector<int> workers;
    for (const auto& group : sum.groups)
        for (const auto& one : group.addends)
            addends.push_back({one.support, one.packed,
                               one.weight * static_cast<double>(terms.size()) / step.divisor});
    for (const auto& term : terms) workers.push_back(term.arrival->worker);
    const auto read = [&](std::size_t first, Eigen::MatrixXd& block) {
        block.setZero();
        for (std::size_t i = 0; i < addends.size(); ++i)
            add(std::span(addends).subspan(i, 1),
                std::span(block.col(static_cast<Eigen::Index>(i)).data(),
                          static_cast<std::size_t>(block.rows())),
                first);
        if (options_.byzantine.collude())
            options_.byzantine.collude(
                workers, std::span(block.data(), static_cast<std::size_t>(block.size())));
    };
    needs.aggregator->aggregate({.count = static_cast<int>(addends.size()),
                                 .size = estimate_.size(),
                                 .read = read,
                                 .last = last_,
                                 .seed = options_.seed,
                                 .step = terms.empty() ? 0 : terms[0].arrival->newest,
                                 .threads = options_.threads,
                                 .add_up = sums_over(fleet)},
                                needs.tolerated, estimate_);
}

// Returns the mean loss that goes with a step. A combined loss is that of all rows.
double ComputedEstimates::mean_loss(const Needs& needs, Fleet& fleet, const Step& step,
                                    std::span<const Summand> placed, std::span<const Summand> terms,
                                    const Losses& of_table, std::int64_t samples)
{
    if (needs.aggregator) {
        std::vector<double> means;
        for (const auto& term : terms) {
            const auto mean = fleet.losses(term.arrival->handle).plain /
                              static_cast<double>(term.arrival->samples);
            means.push_back(std::isnan(mean) ? std::numeric_limits<double>::infinity() : mean);
        }
        return median(std::move(means));
    }
    const bool combined = formed_loss_.has_value();
    Losses losses{std::exchange(formed_loss_, {}).value_or(0), 0};
    if (!combined) {
        losses += of_table;
        for (const auto& term : terms) {
            const auto of_term = fleet.losses(term.arrival->handle);
            losses += {term.counted ? 0 : of_term.plain, term.weight * of_term.coded};
        }
        // Those with the first piece of a folded gradient have the weights of its first
        // coefficients, which the losses have too.
        for (const auto& term : placed) {
            const auto of_term = fleet.losses(term.arrival->handle);
            if (!term.used_before) losses.plain += of_term.plain;
            if (term.at == 0) losses.coded += term.weight * of_term.coded;
        }
    }
    if (needs.exact && !combined) return losses.coded / step.divisor;
    return samples > 0 ? losses.plain / static_cast<double>(samples) : 0;
}

void ComputedEstimates::form(const Needs& needs, Fleet& fleet, const Step& step,
                             std::span<const Summand> placed, std::span<const Summand> terms,
                             SumTable* table, trace::Round& row)
{
    if (estimate_.empty()) {  // a dry run: there is nothing to add up, but that may take time
        if (fleet.groups() > 1) fleet.sums(by_group(fleet, terms));
        formed_loss_.reset();
        return;
    }
    const bool begun = !placed.empty() || needs.aggregator;
    if (!placed.empty()) {
        clear(estimate_);
        place(fleet, placed, estimate_);
    }
    std::vector<Anew> anew;
    if (table) anew = changed(fleet, *table);
    const auto* root = table && !nodes_.empty() ? &nodes_.back() : nullptr;
    Sum sum;
    if (needs.aggregator)
        aggregate(needs, fleet, step, terms);
    else
        sum = gather(fleet, terms, step.displacement);
    const double divisor = needs.aggregator ? 1 : step.displacement ? -step.divisor : step.divisor;
    loss_ = row.loss_estimate =
        mean_loss(needs, fleet, step, placed, terms, root ? root->losses : Losses{}, row.samples);
    // All terms are added to one range of parameters before the next. Mean and norm go block by
    // block, of the nearest cache.
    std::vector<double> squares(blocks_of(estimate_.size()));
    ranges_in_parallel(estimate_.size(), range_of_sums, options_.threads,
                       [&](std::size_t first, std::size_t last) {
                           for (const auto& one : anew) add_up(*table, one, first, last);
                           add_up(sum, root ? &root->sum : nullptr, first, last, begun);
                           for (auto i = first; i < last; i += sum_block) {
                               const auto mean =
                                   Numbers(estimate_).subspan(i, std::min(sum_block, last - i));
                               divide(mean, divisor);
                               squares[i / sum_block] = inner_product(mean, mean);
                           }
                       });
    double square = 0;
    fleet.sum_of_blocks(squares, {&square, 1}, options_.clip > 0);
    row.gradient_norm = std::sqrt(square);
    if (options_.clip > 0 && row.gradient_norm > options_.clip)
        scale(estimate_, options_.clip / row.gradient_norm);
    if (!needs.looks_back()) return;
    std::vector<double> products(squares.size());
    ranges_in_parallel(
        estimate_.size(), sum_block, options_.threads, [&](std::size_t first, std::size_t last) {
            const auto block = [&](ConstNumbers whole) {
                return whole.subspan(first, last - first);
            };
            products[first / sum_block] = inner_product(block(estimate_), block(last_));
        });
    fleet.sum_of_blocks(products, {&row.inner, 1}, true);
    last_ = estimate_;
}

void ComputedEstimates::update(Optimizer& optimizer, double step_size, Version,
                               const std::shared_ptr<NumberVector>& next)
{
    optimizer.tell_loss(loss_);
    const Numbers point = *next;
    quorate::update(optimizer, estimate_, step_size, point);
    if (as_in_memory(options_.wire, point.precision())) return;
    ranges_in_parallel(point.size(), sum_block, options_.threads,
                       [&](std::size_t first, std::size_t last) {
                           round(options_.wire, point.subspan(first, last - first));
                       });
}

void ComputedEstimates::forget_last() { clear(last_); }

}  // namespace quorate
