// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "optimizer/optimizers.hpp"

namespace quorate {

/// The base of the update rules: the model and the regulariser.
class Rule : public Optimizer {
public:
    Rule(std::vector<double> initial, const Regularizer& regularizer)
        : w_(std::move(initial)), regularizer_(regularizer)
    {
    }
    ConstNumbers model() const override { return w_; }
    /// Of rules that publish the model. Those without any other memory are told all.
    Told retrace(std::span<const double>, std::span<const double> after,
                 std::span<double> point) override
    {
        std::ranges::copy(after, w_.begin());
        std::ranges::copy(after, point.begin());
        return memory().size() == 1 && state().empty() ? Told::state : Told::point;
    }

protected:
    /// Calls f(i) for each parameter. What f needs it is to hold by value: then the compiler knows
    /// that no result overwrites it, and uses vectors.
    template <class F>
    void for_parameters(F f) const
    {
        ranges_in_parallel(w_.size(), sum_block, threads_,
                           [=](std::size_t first, std::size_t last) {
                               for (auto i = first; i < last; ++i) f(i);
                           });
    }
    /// Calls f(first, last) for each block of the parameters. Each number that it returns is added
    /// up over the blocks, those of other shares too.
    /// @return the sums, in an array as f returns one
    template <class F>
    auto sums_of(F f) const
    {
        decltype(f(std::size_t{}, std::size_t{})) sums{};
        std::vector<double> blocks(blocks_of(w_.size()) * sums.size());
        ranges_in_parallel(
            w_.size(), sum_block, threads_, [&](std::size_t first, std::size_t last) {
                std::ranges::copy(f(first, last), &blocks[first / sum_block * sums.size()]);
            });
        sums_(blocks, sums);
        return sums;
    }

    std::vector<double> w_;
    Regularizer regularizer_;
};

/// A `make` of an entry whose rule is a Kind, which is told options that it has.
template <class Kind>
inline constexpr auto make_rule =
    []<class T>(const T& given, std::vector<double> initial, const Regularizer& regularizer) {
        if constexpr (std::is_empty_v<T>)
            return std::make_unique<Kind>(std::move(initial), regularizer);
        else
            return std::make_unique<Kind>(given, std::move(initial), regularizer);
    };

}  // namespace quorate
