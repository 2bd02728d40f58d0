// SPDX-License-Identifier: BSD-2-Clause
#include "compute/row_cuts.hpp"

#include <algorithm>

namespace quorate {

RowCuts::RowCuts(const Computing& computing, const Part& part, std::span<const At> at,
                 const Extent& extent)
    : at_once_(computing.threads * computing.chunk_rows),
      micro_batch_(quorate::micro_batch(computing, extent)), by_micro_batch_(extent.samples)
{
    const auto& batches = *computing.batches;
    const auto items = extent.items.value_or(std::ssize(part.items));
    for (const auto& item : std::span(part.items).first(static_cast<std::size_t>(items))) {
        auto& one = items_.emplace_back(extent.samples.value_or(batches.samples(item.block)));
        const auto key = at[static_cast<std::size_t>(item.input)].key;
        if (extent.samples || !batches.full()) one.stream = batches.stream(item.block, key);
    }
    skip_empty();
}

void RowCuts::skip_empty()
{
    while (!done() && items_[item_].rows == 0) ++item_;
}

RowCuts::Cut RowCuts::next(std::vector<std::int64_t>& samples)
{
    auto& [rows, stream] = items_[item_];
    Cut cut{item_, row_, std::min(at_once_, rows - row_), false};
    if (by_micro_batch_) cut.count = std::min(cut.count, micro_batch_ - row_ % micro_batch_);
    samples.resize(stream ? static_cast<std::size_t>(cut.count) : 0);
    if (stream) stream->take(samples);
    row_ += cut.count;
    if (row_ < rows) return cut;
    cut.ends_item = true;
    row_ = 0;
    stream.reset();
    ++item_;
    skip_empty();
    return cut;
}

}  // namespace quorate
