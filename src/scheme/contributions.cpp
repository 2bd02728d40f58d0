// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/contributions.hpp"

namespace quorate {

Contributions::Contributions(const Plans& plans)
{
    int end = 0;
    for (const auto& plan : plans) {
        const auto count = static_cast<int>(plan->parts.size());
        parts_.push_back({end += count, count});
    }
    ids_.resize(end);
}

void Contributions::clear()
{
    int begin = 0;
    for (auto& [end, missing] : parts_) {
        missing = end - begin;
        begin = end;
    }
}

bool Contributions::add(const Contribution& contribution)
{
    ids_[begin(contribution.worker) + contribution.part] = contribution.id;
    return --parts_[contribution.worker].missing == 0;
}

Step Contributions::step(const Decoding& decoding, std::int64_t samples) const
{
    std::vector<Term> terms;
    terms.reserve(decoding.weights.size());
    for (const auto& [worker, part, value] : decoding.weights)
        if (value != 0) terms.push_back({ids_[begin(worker) + part], value});
    // The estimate is scale * (sum of the weighted messages) / samples, so divisor = samples /
    // scale.
    return {std::move(terms), static_cast<double>(samples) / decoding.scale, decoding.error};
}

}  // namespace quorate
