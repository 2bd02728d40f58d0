// SPDX-License-Identifier: BSD-2-Clause
#include "compute/fold.hpp"

#include <algorithm>

namespace quorate {

void add_folded(std::span<const double> coefficients, const Support& support,
                std::span<const double> gradient, std::span<double> sum)
{
    const auto q = sum.size();
    if (!support.full()) {
        const auto chosen = support.chosen();
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            const auto at = static_cast<std::size_t>(chosen[i]);
            sum[at % q] += coefficients[at / q] * gradient[i];
        }
        return;
    }
    for (std::size_t u = 0; u < coefficients.size(); ++u) {
        const auto first = std::min(u * q, gradient.size());
        const auto piece = gradient.subspan(first, std::min(q, gradient.size() - first));
        const double coefficient = coefficients[u];
        for (std::size_t i = 0; i < piece.size(); ++i) sum[i] += coefficient * piece[i];
    }
}

FoldedSum::FoldedSum(const Computing& computing, const HeldRows& held, const Part& part,
                     std::vector<At> at, const Extent& extent, std::span<double> sum)
    : computing_(computing), held_(held), part_(part), at_(std::move(at)), extent_(extent),
      sum_(sum), support_(parameters_of(held.shard, computing.model)), gradient_(support_.size())
{
    std::ranges::fill(sum_, 0.0);
    begin_item();
}

void FoldedSum::begin_item()
{
    while (!done()) {
        single_.items = {part_.items[item_]};
        single_.items[0].coefficient = 1;
        work_ = std::make_unique<PartSum>(computing_, held_, single_, at_, extent_, gradient_);
        if (!work_->done()) return;
        ++item_;
    }
}

// Adds what the running item has computed.
void FoldedSum::complete_item()
{
    const auto pieces = pieces_of(part_);
    const auto coefficients = std::span(part_.fold).subspan(item_ * pieces, pieces);
    add_folded(coefficients, support_, gradient_, sum_);
    losses_ += {work_->losses().plain, coefficients[0] * work_->losses().coded};
}

std::int64_t FoldedSum::step()
{
    if (done()) return 0;
    const auto count = work_->step();
    samples_ += count;
    if (!work_->done()) return count;
    complete_item();
    ++item_;
    begin_item();
    return count;
}

void FoldedSum::finish()
{
    work_->finish();
    complete_item();
    item_ = part_.items.size();
}

}  // namespace quorate
