// SPDX-License-Identifier: BSD-2-Clause
#include "compute/part_sum.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace quorate {

namespace {

double add_gradient(const Model& model, const RowView& rows, ConstNumbers point, double coefficient,
                    Numbers sum)
{
    if (sum.precision() == Precision::binary64)
        return model.add_gradient(rows, point, coefficient, sum);
    return model.add_gradient_floats(rows, point.of<float>(), coefficient, sum.of<float>());
}

}  // namespace

Chunks::Chunks(const Computing& computing, std::size_t width, Precision precision)
    : computing_(computing), gathered_(static_cast<std::size_t>(computing.threads))
{
    for (int t = 1; t < computing.threads; ++t) by_thread_.emplace_back(width, precision);
}

double Chunks::add(const RowView& rows, std::span<const std::int64_t> samples, std::int64_t first,
                   std::int64_t count, ConstNumbers point, double coefficient, Numbers sum)
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
        losses[t] = add_gradient(computing_.model, chunk, point, coefficient,
                                 t == 0 ? sum : Numbers(by_thread_[t - 1]));
    });
    double loss = 0;
    for (const double one : losses) loss += one;
    return loss;
}

void Chunks::collect(Numbers sum)
{
    for (auto& other : by_thread_) {
        quorate::add(1, other, sum);
        clear(other);
    }
}

PartSum::PartSum(const Computing& computing, const StoredRows& stored, const Part& part,
                 std::vector<At> at, const Extent& extent, Numbers sum)
    : computing_(computing), stored_(stored), part_(part), at_(std::move(at)), extent_(extent),
      sum_(sum), chunks_(computing, sum.size(), sum.precision()),
      cuts_(computing, part, at_, extent)
{
    clear(sum_);
    if (extent_.items) complete_.emplace().sum = NumberVector(sum_);
    if (computing_.model.looks_ahead()) tell_model();
}

namespace {

class Upcoming final : public UpcomingRows {
public:
    explicit Upcoming(const RowCuts& cuts) : cuts_(cuts) {}
    std::optional<Rows> next() override
    {
        if (cuts_.done()) return {};
        Rows rows;
        const auto cut = cuts_.next(rows.rows);
        rows.item = cut.item;
        if (rows.rows.empty())
            for (std::int64_t i = 0; i < cut.count; ++i) rows.rows.push_back(cut.first + i);
        return rows;
    }

private:
    RowCuts cuts_;
};

}  // namespace

void PartSum::tell_model() const
{
    std::vector<RowView> blocks;
    for (const auto& item : part_.items) blocks.push_back(stored_.rows(item.block));
    computing_.model.expect(blocks, std::make_shared<Upcoming>(cuts_));
}

std::int64_t PartSum::ahead() const
{
    if (complete_) return cuts_.left();
    return extent_.samples ? cuts_.micro_batch() : 0;
}

std::int64_t PartSum::step()
{
    if (done()) return 0;
    const auto cut = cuts_.next(taken_);
    const auto& item = part_.items[cut.item];
    const double scale = extent_.samples ? 1 : computing_.batches->scale(item.block);
    const double coefficient = item.coefficient * scale;
    const double loss =
        chunks_.add(stored_.rows(item.block), taken_, cut.first, cut.count,
                    at_[static_cast<std::size_t>(item.input)].point, coefficient, sum_);
    losses_ += {loss, coefficient * loss};
    samples_ += cut.count;
    if (cut.ends_item) end_item();
    return cut.count;
}

// The sums of threads are added up after each item where items count as a whole, else at the end.
void PartSum::end_item()
{
    if (complete_) {
        chunks_.collect(sum_);
        copy(sum_, complete_->sum);
        complete_->samples = samples_;
        complete_->losses = losses_;
    }
    if (done() && !complete_) finish();
}

void PartSum::finish()
{
    if (!complete_) {
        chunks_.collect(sum_);
        return;
    }
    copy(complete_->sum, sum_);
    samples_ = complete_->samples;
    losses_ = complete_->losses;
}

Descent::Descent(const Computing& computing, const StoredRows& stored, const Part& part,
                 const std::vector<At>& at, const Extent& extent, Numbers displacement,
                 StatePlaces places)
    : computing_(computing), all_(stored.rows(part.items[0].block)),
      at_(at[static_cast<std::size_t>(part.items[0].input)]), extent_(extent),
      displacement_(displacement),
      chunks_(computing, displacement.size(), displacement.precision()),
      rows_(computing.batches->samples(part.items[0].block)),
      stream_(computing.batches->stream(part.items[0].block, at_.key)), w_(at_.point),
      gradient_(w_.size(), w_.precision()),
      inner_(computing.inner ? computing.inner(w_.doubles()) : nullptr),
      left_(inner_ && computing.keeps_inner && places.to ? &places.to->inner : nullptr),
      coefficient_(part.items[0].coefficient)
{
    clear(displacement_);
    if (inner_ && computing.keeps_inner && places.from) places.from->inner.set(*inner_);
    if (done()) finish();
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
    if (inner_)
        update(*inner_, gradient_, extent_.step, w_);
    else
        descend();
    clear(gradient_);
    row_ = 0;
    ++samples_;
    if (done()) finish();
    return count;
}

void Descent::descend()
{
    Numbers(w_).visit([&]<class T>(std::span<T> w) {
        const auto gradient = Numbers(gradient_).of<T>();
        const auto kept = static_cast<T>(1 - 2 * computing_.l2 * extent_.step);
        const auto step = static_cast<T>(extent_.step);
        for (std::size_t i = 0; i < w.size(); ++i) w[i] = kept * w[i] - step * gradient[i];
    });
}

void Descent::finish()
{
    displacement_.visit([&]<class T>(std::span<T> displacement) {
        const auto w = Numbers(w_).of<T>();
        const auto from = at_.point.of<T>();
        const auto coefficient = static_cast<T>(coefficient_);
        for (std::size_t i = 0; i < w.size(); ++i) displacement[i] = coefficient * (w[i] - from[i]);
    });
    if (left_) *left_ = InnerState(*inner_);
}

}  // namespace quorate
