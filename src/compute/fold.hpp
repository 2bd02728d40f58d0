// SPDX-License-Identifier: BSD-2-Clause
// Folded gradients: contributions that are shorter than a gradient (Part::fold in
// scheme/types.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compute/held_gradients.hpp"
#include "compute/part_sum.hpp"

namespace quorate {

/// The number m of pieces that a part folds gradients of; 1: it does not fold.
inline std::size_t pieces_of(const Part& part)
{
    return part.fold.empty() ? 1 : part.fold.size() / part.items.size();
}

/// The elements q = ceil(p / m) of a folded gradient of p.
inline std::size_t folded_length(std::size_t parameters, std::size_t pieces)
{
    return (parameters + pieces - 1) / pieces;
}

/// Adds a folded gradient: sum[i] += the sum over the pieces u of coefficient u times element u q +
/// i. O(support).
/// @param coefficients  m of them
/// @param gradient      at the support  @param sum  q elements
void add_folded(std::span<const double> coefficients, const Support& support, ConstNumbers gradient,
                Numbers sum);

/// Computes the gradients of a part's items, each by itself, and their sum: each folded, or times
/// the item's coefficient; of a part that is held, no sum. Its kernel is that of PartSum, and a
/// pass over the gradient comes on top of each item.
class SumByItem final : public Work {
public:
    /// @param held_gradients  those that need no computing, to which the others are added; null:
    ///        none are held
    /// @param sum             receives the contribution, length_of() elements
    SumByItem(const Computing& computing, const StoredRows& stored, const Part& part,
              std::vector<At> at, const Extent& extent, HeldGradients* held_gradients, Numbers sum);

    bool done() const override { return item_ == part_.items.size(); }
    std::int64_t step() override;
    std::int64_t ahead() const override { return work_->ahead(); }
    void finish() override;

private:
    std::int64_t key() const;
    void begin_item();
    void complete_item();
    void add(const HeldGradient& gradient);

    const Computing& computing_;
    StoredRows stored_;
    const Part& part_;
    std::vector<At> at_;
    Extent extent_;
    HeldGradients* held_gradients_;
    Numbers sum_;
    Support support_;
    std::size_t item_ = 0;
    Part single_;            // the running item alone, as PartSum takes it
    HeldGradient gradient_;  // of it
    std::unique_ptr<PartSum> work_;
};

}  // namespace quorate
