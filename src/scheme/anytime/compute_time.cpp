// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/anytime/compute_time.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "code/partition.hpp"

namespace quorate {

ComputeTime::ComputeTime(Seconds time, const std::optional<std::int64_t>& micro_batch,
                         const Problem& problem, std::int64_t samples)
    : match_(time == matched_time), time_(std::max(0.0, time)),
      micro_batch_(micro_batch.value_or(0)), row_time_(problem.row_time),
      slack_(1 + problem.workers / static_cast<double>(samples)),
      row_seconds_(problem.workers, problem.row_time), samples_(samples)
{
    at_most("micro-batch", micro_batch_, problem.rows);
    const auto rows = std::max<std::int64_t>(1, micro_batch_);
    if (const auto least = static_cast<double>(rows) * row_time_; known() && least > time_)
        throw Refusal("compute-time",
                      fmt::format(", but a micro-batch of {} row{} takes {:g} s: use a longer "
                                  "one{}",
                                  rows, rows == 1 ? "" : "s", least,
                                  rows == 1 ? "" : ", or a smaller --micro-batch"));
}

void ComputeTime::cap(std::int64_t all, const Problem& problem, const Needs& needs)
{
    if (all < problem.workers)
        throw Refusal("samples-cap", fmt::format(": use at least {}", problem.workers));
    at_most("samples-cap", all, problem.rows);
    if (!known() && all < samples_)
        throw Refusal("samples-cap",
                      fmt::format(", but the minibatches from which --compute-time is chosen have "
                                  "{} samples: give --compute-time in seconds, or a larger cap",
                                  samples_));
    // No share exceeds the rows of its block, so a task takes none of them twice; all shares are N
    // at most.
    for (int i = 0; i < problem.workers; ++i)
        caps_.push_back(std::min(partition(all, problem.workers, i).second, needs.blocks[i].count));
}

void ComputeTime::receive(const Contribution& contribution, bool whole)
{
    if (contribution.samples == 0) return;
    row_seconds_[contribution.worker] =
        std::max(row_time_, contribution.compute / static_cast<double>(contribution.samples));
    if (whole && !known())
        minibatches_.push_back({contribution.delay, std::max(contribution.compute, 1e-9)});
}

std::string ComputeTime::choose()
{
    const auto count = static_cast<double>(minibatches_.size());
    if (match_) {
        Seconds low = 0, high = 0;
        for (const auto& one : minibatches_) high = std::max(high, one.delay + one.compute);
        for (int i = 0; i < 60; ++i) {
            const auto middle = (low + high) / 2;
            double done = 0;
            for (const auto& one : minibatches_)
                done += std::max(0.0, middle - one.delay) / one.compute;
            (done / count < 1 ? low : high) = middle;
        }
        time_ = high;
    } else {
        Seconds sum = 0;
        for (const auto& one : minibatches_) sum += one.delay + one.compute;
        time_ = slack_ * sum / count;
    }
    return fmt::format("after {} timed minibatches: --compute-time {:.4g}", minibatches_.size(),
                       time_);
}

std::int64_t ComputeTime::micro_batch(Worker worker) const
{
    if (micro_batch_ > 0) return micro_batch_;
    const auto row = row_seconds_[worker];
    return row > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(0.01 * time_ / row)) : 1;
}

}  // namespace quorate
