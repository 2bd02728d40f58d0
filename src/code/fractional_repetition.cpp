// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/random.hpp"
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
    std::vector<Row> rows;
    for (const int size : groups.size) {
        auto& row = rows.emplace_back();
        for (int j = 0; j < size; ++j) row.push_back({encoding.partitions++, 1});
    }
    for (const int group : groups.of)
        encoding.rows.push_back({rows[static_cast<std::size_t>(group)]});
    return encoding;
}

std::optional<Groups> random_groups(int n, int count, std::uint64_t seed)
{
    constexpr std::uint32_t most = 1000;
    Groups groups;
    groups.size.assign(static_cast<std::size_t>(count), 1);
    for (std::uint32_t attempt = 0; attempt < most; ++attempt) {
        Stream stream(seed, Purpose::code, attempt);
        groups.of.clear();
        for (int worker = 0; worker < n; ++worker)
            groups.of.push_back(static_cast<int>(stream.below(groups.size.size())));
        if (std::set(groups.of.begin(), groups.of.end()).size() == groups.size.size())
            return groups;
    }
    return {};
}

GroupDecoder::GroupDecoder(Groups groups, int collect, bool rescale)
    : groups_(std::move(groups)), collect_(collect), rescale_(rescale),
      partitions_(std::accumulate(groups_.size.begin(), groups_.size.end(), 0))
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
    for (const int worker : first_)
        if (worker >= 0) decoding_.weights.push_back({worker, 0, 1});
    // They ascend already where groups are runs of worker numbers.
    if (!std::ranges::is_sorted(decoding_.weights, {}, &Weight::worker))
        std::ranges::sort(decoding_.weights, {}, &Weight::worker);
    const auto k = static_cast<double>(partitions_);
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
