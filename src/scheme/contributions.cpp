// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/contributions.hpp"

namespace quorate {

Contributions::Contributions(std::vector<int> parts) : parts_(std::move(parts)), missing_(parts_)
{
    std::size_t next = 0;
    for (const int count : parts_) {
        begin_.push_back(next);
        next += static_cast<std::size_t>(count);
    }
    ids_.resize(next);
}

void Contributions::clear() { missing_ = parts_; }

bool Contributions::add(const Contribution& contribution)
{
    ids_[index_of(contribution.worker, contribution.part)] = contribution.id;
    return --missing_[static_cast<std::size_t>(contribution.worker)] == 0;
}

ContributionId Contributions::id(Worker worker, int part) const
{
    return ids_[index_of(worker, part)];
}

std::size_t Contributions::index_of(Worker worker, int part) const
{
    return begin_[static_cast<std::size_t>(worker)] + static_cast<std::size_t>(part);
}

std::vector<Term> Contributions::terms(const Decoding& decoding, int first_part) const
{
    std::vector<Term> terms;
    terms.reserve(decoding.weights.size());
    for (const auto& [worker, part, value] : decoding.weights)
        if (value != 0) terms.push_back({id(worker, first_part + part), value});
    return terms;
}

Step Contributions::step(const Decoding& decoding, std::int64_t samples) const
{
    // The estimate is scale * (sum of the weighted messages) / samples, so divisor = samples /
    // scale.
    return {terms(decoding), static_cast<double>(samples) / decoding.scale, decoding.error};
}

}  // namespace quorate
