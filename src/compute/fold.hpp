// SPDX-License-Identifier: BSD-2-Clause
// Folded gradients: contributions that are shorter than a gradient (Part::fold in scheme/types.hpp).
#pragma once

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

/// Adds a folded gradient: sum[i] += the sum over the pieces u of coefficient u times element u q + i. O(support).
/// @param coefficients  m of them
/// @param gradient      at the support  @param sum  q elements
void add_folded(std::span<const double> coefficients, const Support& support,
                std::span<const double> gradient, std::span<double> sum);

/// Computes the sum of the folded gradients of a part's items, each gradient by itself. Its kernel is that of PartSum, and
/// a pass over the gradient comes on top of each item.
class FoldedSum final : public Work {
public:
    /// @param sum  receives the contribution, folded_length() elements
    FoldedSum(const Computing& computing, const HeldRows& held, const Part& part,
              std::vector<At> at, const Extent& extent, std::span<double> sum);

    bool done() const override { return item_ == part_.items.size(); }
    std::int64_t step() override;
    std::int64_t ahead() const override { return work_->ahead(); }
    void finish() override;

private:
    void begin_item();
    void complete_item();

    const Computing& computing_;
    HeldRows held_;
    const Part& part_;
    std::vector<At> at_;
    Extent extent_;
    std::span<double> sum_;
    Support support_;
    std::size_t item_ = 0;
    Part single_;                   // the running item alone, as PartSum takes it
    std::vector<double> gradient_;  // of it
    std::unique_ptr<PartSum> work_;
};

}  // namespace quorate
