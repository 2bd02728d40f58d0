// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/whole_models.hpp"

#include <utility>

namespace quorate {

void WholeModels::take(const transport::Bytes& bytes)
{
    MessageReader in(bytes);
    const auto [share, round] = in.get<ModelSlice>();
    const auto size = shares_.size(static_cast<std::size_t>(share));
    with_number(precision_, [&]<class T>(T) {
        put(round, static_cast<std::size_t>(share), ConstNumbers(in.numbers<T>(size)));
    });
}

void WholeModels::put(std::int64_t round, std::size_t share, ConstNumbers slice)
{
    auto& model = models_[round];
    if (!model.whole)
        model.whole = std::make_shared<NumberVector>(
            static_cast<std::size_t>(shares_.bounds.back()), precision_);
    copy(slice, Numbers(*model.whole)
                    .subspan(static_cast<std::size_t>(shares_.first(share)), shares_.size(share)));
    ++model.slices;
    // Those of a later round may be complete before: one owner may be ahead of another.
    for (auto next = models_.upper_bound(0);
         next != models_.end() && next->second.slices == shares_.count();
         next = models_.erase(next))
        behind_.keep(next->first, std::move(next->second.whole));
}

bool WholeModels::has_ended(int models) const
{
    if (models_.upper_bound(0) != models_.end()) return false;
    for (int model = 0; model < models; ++model) {
        const auto at = models_.find(-model);
        if (at == models_.end() || at->second.slices < shares_.count()) return false;
    }
    return true;
}

}  // namespace quorate
