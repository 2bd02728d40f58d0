// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/sample_mean.hpp"

namespace quorate {

SampleMean::SampleMean(std::vector<Block> blocks) : blocks_(std::move(blocks))
{
    for (const auto& block : blocks_) rows_ += block.count;
}

void SampleMean::clear()
{
    terms_.clear();
    weight_.clear();
    samples_ = 0;
}

void SampleMean::add(const Contribution& contribution, int block, double weight)
{
    add_whole(contribution, block, weight);
    weight_[block] += weight * static_cast<double>(contribution.samples - 1);
}

void SampleMean::add_whole(const Contribution& contribution, int block, double weight)
{
    terms_.push_back({contribution.id, weight});
    samples_ += contribution.samples;
    weight_[block] += weight;
}

Step SampleMean::step(double divisor) const
{
    double error = static_cast<double>(blocks_.size() - weight_.size());
    for (const auto& [block, weight] : weight_) {
        const double share = static_cast<double>(blocks_[block].count) / static_cast<double>(rows_);
        const double off = weight / divisor / share - 1;
        error += off * off;
    }
    return {.terms = terms_, .divisor = divisor, .error = error};
}

}  // namespace quorate
