// SPDX-License-Identifier: BSD-2-Clause
#include "compute/fold.hpp"

#include <algorithm>

namespace quorate {

namespace {

template <class T>
void add_folded(std::span<const double> coefficients, const Support& support,
                std::span<const T> gradient, std::span<T> sum)
{
    const auto q = sum.size();
    if (!support.full()) {
        const auto chosen = support.chosen();
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            const auto at = static_cast<std::size_t>(chosen[i]);
            sum[at % q] += static_cast<T>(coefficients[at / q]) * gradient[i];
        }
        return;
    }
    for (std::size_t u = 0; u < coefficients.size(); ++u) {
        const auto first = std::min(u * q, gradient.size());
        const auto piece = gradient.subspan(first, std::min(q, gradient.size() - first));
        const auto coefficient = static_cast<T>(coefficients[u]);
        for (std::size_t i = 0; i < piece.size(); ++i) sum[i] += coefficient * piece[i];
    }
}

}  // namespace

void add_folded(std::span<const double> coefficients, const Support& support, ConstNumbers gradient,
                Numbers sum)
{
    sum.visit([&]<class T>(std::span<T> all) {
        add_folded<T>(coefficients, support, gradient.of<T>(), all);
    });
}

SumByItem::SumByItem(const Computing& computing, const StoredRows& stored, const Part& part,
                     std::vector<At> at, const Extent& extent, HeldGradients* held_gradients,
                     Numbers sum)
    : computing_(computing), stored_(stored), part_(part), at_(std::move(at)), extent_(extent),
      held_gradients_(held_gradients), sum_(sum),
      support_(parameters_of(stored.shard, computing.model))
{
    clear(sum_);
    gradient_.values = NumberVector(support_.size(), sum_.precision());
    begin_item();
}

std::int64_t SumByItem::key() const
{
    return at_[static_cast<std::size_t>(part_.items[item_].input)].key;
}

void SumByItem::begin_item()
{
    for (; !done(); ++item_) {
        const auto& item = part_.items[item_];
        if (const auto* known =
                held_gradients_ ? held_gradients_->find(item.block, key()) : nullptr) {
            add(*known);
            continue;
        }
        single_.items = {{.block = item.block, .input = item.input}};
        work_ =
            std::make_unique<PartSum>(computing_, stored_, single_, at_, extent_, gradient_.values);
        if (!work_->done()) return;
    }
}

// Adds what the running item has computed.
void SumByItem::complete_item()
{
    gradient_.samples = work_->samples();
    gradient_.losses = work_->losses();
    add(gradient_);
    if (held_gradients_) held_gradients_->hold(part_.items[item_].block, key(), gradient_);
}

void SumByItem::add(const HeldGradient& gradient)
{
    samples_ += gradient.samples;
    double coefficient = part_.items[item_].coefficient;
    if (!part_.fold.empty()) {
        const auto pieces = pieces_of(part_);
        const auto coefficients = std::span(part_.fold).subspan(item_ * pieces, pieces);
        add_folded(coefficients, support_, gradient.values, sum_);
        coefficient = coefficients[0];
    } else {
        quorate::add(coefficient, gradient.values, sum_);
    }
    losses_ += {gradient.losses.plain, coefficient * gradient.losses.coded};
}

std::int64_t SumByItem::step()
{
    if (done()) return 0;
    const auto count = work_->step();
    if (!work_->done()) return count;
    complete_item();
    ++item_;
    begin_item();
    return count;
}

void SumByItem::finish()
{
    work_->finish();
    complete_item();
    item_ = part_.items.size();
}

}  // namespace quorate
