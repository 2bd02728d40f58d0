// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/part_sum.hpp"

#include <algorithm>
#include <exception>

namespace quorate {

PartSum::PartSum(const Computing& computing, const Shard& shard, std::span<const std::size_t> place,
                 const Part& part, std::int64_t draw, std::vector<std::span<const double>> inputs,
                 std::span<double> sum)
    : computing_(computing), shard_(shard), place_(place), part_(part), draw_(draw),
      inputs_(std::move(inputs)), sum_(sum),
      by_thread_(static_cast<std::size_t>(computing.threads - 1),
                 std::vector<double>(sum.size(), 0.0)),
      gathered_(static_cast<std::size_t>(computing.threads))
{
    std::ranges::fill(sum_, 0.0);
    begin_item();
}

void PartSum::begin_item()
{
    row_ = 0;
    if (!done() && !computing_.batches.full())
        samples_ = computing_.batches.draw(part_.items[item_].block, draw_);
}

std::int64_t PartSum::step()
{
    if (done()) return 0;
    const auto& item = part_.items[item_];
    const auto& model = computing_.model;
    const auto& batches = computing_.batches;
    const auto chunk_rows = computing_.chunk_rows;
    const auto threads = computing_.threads;
    const auto all = shard_.block(place_[static_cast<std::size_t>(item.block)]).view();
    const auto rows = batches.samples(item.block);
    const double coefficient = item.coefficient * batches.scale(item.block);
    const auto point = inputs_[static_cast<std::size_t>(item.input)];
    std::vector<double> losses(static_cast<std::size_t>(threads));
    std::exception_ptr error;
    // Each thread has a chunk of its own, and a sum of its own until the part is done.
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int thread = 0; thread < threads; ++thread) {
        const auto first = row_ + thread * chunk_rows;
        const auto count = std::min(chunk_rows, rows - first);
        if (count <= 0) continue;
        const auto t = static_cast<std::size_t>(thread);
        try {  // an exception must not leave a parallel region
            const auto chunk = batches.full()
                                   ? all.slice(first, count)
                                   : gathered_[t].take(all, std::span(samples_).subspan(
                                                                static_cast<std::size_t>(first),
                                                                static_cast<std::size_t>(count)));
            losses[t] = model.add_gradient(chunk, point, coefficient,
                                           t == 0 ? sum_ : std::span<double>(by_thread_[t - 1]));
        } catch (...) {
#pragma omp critical
            error = std::current_exception();
        }
    }
    if (error) std::rethrow_exception(error);
    for (const double loss : losses) loss_ += loss;
    const auto computed = std::min(threads * chunk_rows, rows - row_);
    row_ += computed;
    if (row_ == rows) {
        ++item_;
        begin_item();
        if (done()) finish();
    }
    return computed;
}

void PartSum::finish()
{
    for (const auto& other : by_thread_)
        for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += other[i];
}

}  // namespace quorate
