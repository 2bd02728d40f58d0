// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/whole_states.hpp"

#include <utility>

#include "base/error.hpp"

namespace quorate {

void WholeStates::begin(const Shares& shares, const PointList& slices, Take take)
{
    auto& state = states_[++number_];
    state.take = std::move(take);
    for (const auto& slice : slices) {
        const bool whole = slice->size() != shares.size(0);
        auto& vector = state.vectors.emplace_back();
        if (whole)
            vector.own = slice;
        else
            vector.joined = std::make_shared<NumberVector>(
                static_cast<std::size_t>(shares.bounds.back()), slice->precision());
    }
    put(shares, {0, number_, slices});
}

void WholeStates::put(const Shares& shares, const StateSlice& slice)
{
    const auto at = states_.find(slice.number);
    if (at == states_.end()) return;
    auto& state = at->second;
    const auto share = static_cast<std::size_t>(slice.share);
    if (slice.vectors.size() != state.vectors.size())
        throw Failure(
            "the owner of a share has other vectors than the coordinator: the hosts compute "
            "differently; use hosts with equal processors and libraries, or --aggregate node");
    for (std::size_t i = 0; i < state.vectors.size(); ++i)
        if (const auto& whole = state.vectors[i].joined)
            copy(*slice.vectors[i],
                 Numbers(*whole).subspan(static_cast<std::size_t>(shares.first(share)),
                                         shares.size(share)));
    if (++state.slices < shares.count()) return;
    PointList all;
    for (auto& [joined, own] : state.vectors) all.push_back(joined ? Point(joined) : own);
    const auto take = std::move(state.take);
    states_.erase(at);
    take(std::move(all));
}

}  // namespace quorate
