// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/contributions.hpp"

namespace quorate {

Contributions::Contributions(std::vector<int> parts) : parts_(std::move(parts)), missing_(parts_)
{
    for (const int count : parts_) ids_.emplace_back(static_cast<std::size_t>(count));
}

void Contributions::clear() { missing_ = parts_; }

bool Contributions::add(const Contribution& contribution)
{
    const auto worker = static_cast<std::size_t>(contribution.worker);
    ids_[worker][static_cast<std::size_t>(contribution.part)] = contribution.id;
    return --missing_[worker] == 0;
}

Step Contributions::step(const Decoding& decoding, std::int64_t samples) const
{
    std::vector<Term> terms;
    terms.reserve(decoding.weights.size());
    for (const auto& [worker, part, value] : decoding.weights)
        if (value != 0)
            terms.push_back(
                {ids_[static_cast<std::size_t>(worker)][static_cast<std::size_t>(part)], value});
    // The estimate is scale * (sum of the weighted messages) / samples, so divisor = samples /
    // scale.
    return {std::move(terms), static_cast<double>(samples) / decoding.scale, decoding.error};
}

}  // namespace quorate
