// SPDX-License-Identifier: BSD-2-Clause
#include "compute/part_sum.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace quorate {

Chunks::Chunks(const Computing& computing, std::size_t width)
    : computing_(computing),
      by_thread_(static_cast<std::size_t>(computing.threads - 1), std::vector<double>(width, 0.0)),
      gathered_(static_cast<std::size_t>(computing.threads))
{
}

double Chunks::add(const RowView& rows, std::span<const std::int64_t> samples, std::int64_t first,
                   std::int64_t count, std::span<const double> point, double coefficient,
                   std::span<double> sum)
{
    const petsc::Logged logged(petsc::Work::gradient);
    const auto threads = computing_.threads;
    std::vector<double> losses(static_cast<std::size_t>(threads));
    // Each thread has a chunk of its own, and a sum of its own until collect().
    in_parallel(losses.size(), threads, [&](std::size_t t) {
        const auto offset = static_cast<std::int64_t>(t) * computing_.chunk_rows;
        const auto size = std::min(computing_.chunk_rows, count - offset);
        if (size <= 0) return;
        const auto chunk =
            samples.empty()
                ? rows.slice(first + offset, size)
                : gathered_[t].take(rows, samples.subspan(static_cast<std::size_t>(offset),
                                                          static_cast<std::size_t>(size)));
        losses[t] = computing_.model.add_gradient(
            chunk, point, coefficient, t == 0 ? sum : std::span<double>(by_thread_[t - 1]));
    });
    double loss = 0;
    for (const double one : losses) loss += one;
    return loss;
}

void Chunks::collect(std::span<double> sum)
{
    for (auto& other : by_thread_) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
        std::ranges::fill(other, 0.0);
    }
}

PartSum::PartSum(const Computing& computing, const StoredRows& stored, const Part& part,
                 std::vector<At> at, const Extent& extent, std::span<double> sum)
    : computing_(computing), stored_(stored), part_(part), at_(std::move(at)), extent_(extent),
      micro_batch_(micro_batch(computing, extent)), sum_(sum), chunks_(computing, sum.size()),
      items_(static_cast<std::size_t>(extent.items.value_or(std::ssize(part.items))))
{
    std::ranges::fill(sum_, 0.0);
    if (extent_.items) complete_.emplace().sum.resize(sum_.size());
    begin_item();
}

void PartSum::begin_item()
{
    row_ = 0;
    const auto& batches = *computing_.batches;
    for (; !done(); ++item_) {
        const auto& item = part_.items[item_];
        rows_ = extent_.samples.value_or(batches.samples(item.block));
        if (rows_ == 0) continue;
        const auto key = at_[static_cast<std::size_t>(item.input)].key;
        if (extent_.samples || !batches.full()) stream_.emplace(batches.stream(item.block, key));
        return;
    }
}

std::int64_t PartSum::ahead() const
{
    if (complete_) return rows_ - row_;
    return extent_.samples && row_ % micro_batch_ == 0 ? std::min(micro_batch_, rows_ - row_) : 0;
}

std::int64_t PartSum::step()
{
    if (done()) return 0;
    const auto& item = part_.items[item_];
    auto count = std::min(computing_.threads * computing_.chunk_rows, rows_ - row_);
    if (extent_.samples) count = std::min(count, micro_batch_ - row_ % micro_batch_);
    taken_.resize(stream_ ? static_cast<std::size_t>(count) : 0);
    if (stream_) stream_->take(taken_);
    const double scale = extent_.samples ? 1 : computing_.batches->scale(item.block);
    const double coefficient = item.coefficient * scale;
    const double loss =
        chunks_.add(stored_.rows(item.block), taken_, row_, count,
                    at_[static_cast<std::size_t>(item.input)].point, coefficient, sum_);
    losses_ += {loss, coefficient * loss};
    samples_ += count;
    row_ += count;
    if (row_ == rows_) end_item();
    return count;
}

// The sums of threads are added up after each item where items count as a whole, else at the end.
void PartSum::end_item()
{
    if (complete_) {
        chunks_.collect(sum_);
        complete_->sum.assign(sum_.begin(), sum_.end());
        complete_->samples = samples_;
        complete_->losses = losses_;
    }
    ++item_;
    stream_.reset();
    begin_item();
    if (done() && !complete_) finish();
}

void PartSum::finish()
{
    if (!complete_) {
        chunks_.collect(sum_);
        return;
    }
    std::ranges::copy(complete_->sum, sum_.begin());
    samples_ = complete_->samples;
    losses_ = complete_->losses;
}

Descent::Descent(const Computing& computing, const StoredRows& stored, const Part& part,
                 const std::vector<At>& at, const Extent& extent, std::span<double> displacement)
    : computing_(computing), all_(stored.rows(part.items[0].block)),
      at_(at[static_cast<std::size_t>(part.items[0].input)]), extent_(extent),
      displacement_(displacement), chunks_(computing, displacement.size()),
      rows_(computing.batches->samples(part.items[0].block)),
      stream_(computing.batches->stream(part.items[0].block, at_.key)),
      w_(at_.point.begin(), at_.point.end()), gradient_(w_.size(), 0.0),
      coefficient_(part.items[0].coefficient)
{
    std::ranges::fill(displacement_, 0.0);
}

std::int64_t Descent::step()
{
    if (done()) return 0;
    const auto count = std::min(computing_.threads * computing_.chunk_rows, rows_ - row_);
    taken_.resize(static_cast<std::size_t>(count));
    stream_.take(taken_);
    const double mean = 1 / static_cast<double>(rows_);
    const double loss = mean * chunks_.add(all_, taken_, 0, count, w_, mean, gradient_);
    losses_ += {loss, coefficient_ * loss};
    row_ += count;
    if (row_ < rows_) return count;
    chunks_.collect(gradient_);
    const double kept = 1 - 2 * computing_.l2 * extent_.step;
    for (std::size_t i = 0; i < w_.size(); ++i) {
        w_[i] = kept * w_[i] - extent_.step * gradient_[i];
        gradient_[i] = 0;
    }
    row_ = 0;
    ++samples_;
    if (done()) finish();
    return count;
}

void Descent::finish()
{
    for (std::size_t i = 0; i < w_.size(); ++i)
        displacement_[i] = coefficient_ * (w_[i] - at_.point[i]);
}

}  // namespace quorate
