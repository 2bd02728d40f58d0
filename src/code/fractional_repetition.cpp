// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"

#include "code/partition.hpp"

namespace quorate {

Groups repetition_groups(int n, int d)
{
    const int count = n / d;
    Groups groups;
    for (int q = 0; q < count; ++q) {
        const auto size = partition(n, count, q).second;
        groups.size.push_back(static_cast<int>(size));
        groups.of.insert(groups.of.end(), static_cast<std::size_t>(size), q);
    }
    return groups;
}

Encoding repetition_encoding(const Groups& groups)
{
    Encoding encoding;
    int first = 0;
    for (const int size : groups.size) {
        Row row;
        for (int j = first; j < first + size; ++j) row.push_back({j, 1});
        encoding.rows.insert(encoding.rows.end(), static_cast<std::size_t>(size), {row});
        first += size;
    }
    encoding.partitions = first;
    return encoding;
}

GroupDecoder::GroupDecoder(Groups groups, int collect, bool rescale)
    : groups_(std::move(groups)), collect_(collect), rescale_(rescale)
{
    begin();
}

void GroupDecoder::begin()
{
    first_.assign(groups_.size.size(), -1);
    answers_ = covered_ = 0;
    answered_ = 0;
}

const Decoding* GroupDecoder::receive(int worker)
{
    const auto group = static_cast<std::size_t>(groups_.of[worker]);
    ++answers_;
    if (first_[group] < 0) {
        first_[group] = worker;
        covered_ += groups_.size[group];
        ++answered_;
    }
    if (answered_ < first_.size() && answers_ < collect_) return nullptr;
    return expire();
}

const Decoding* GroupDecoder::expire()
{
    if (answers_ == 0) return nullptr;
    decoding_.weights.clear();
    decoding_.weights.reserve(answered_);
    for (const int worker : first_)  // groups are runs of worker numbers, so these ascend
        if (worker >= 0) decoding_.weights.push_back({worker, 0, 1});
    const auto k = static_cast<double>(groups_.of.size());
    const auto covered = static_cast<double>(covered_);
    const double a = rescale_ ? k / covered : 1;
    decoding_.scale = a;
    decoding_.error = covered * (a - 1) * (a - 1) + (k - covered);
    return &decoding_;
}

GradientCode fractional_repetition(int n, int d) { return approximate_repetition(n, d, n, true); }

GradientCode approximate_repetition(int n, int d, int collect, bool rescale)
{
    auto groups = repetition_groups(n, d);
    auto encoding = repetition_encoding(groups);
    return {std::move(encoding),
            std::make_unique<GroupDecoder>(std::move(groups), collect, rescale)};
}

}  // namespace quorate
