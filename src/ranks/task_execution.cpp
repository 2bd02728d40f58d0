// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/task_execution.hpp"

#include <algorithm>
#include <limits>

#include "compute/begin_work.hpp"
#include "compute/product.hpp"
#include "scheme/whole_items.hpp"
#include "transport/clock.hpp"

namespace quorate {

std::int64_t rows_asked(const WorkerContext& context, const TaskMessage& message)
{
    Versions inputs;
    for (const auto& input : message.inputs) inputs.push_back(input.version);
    const auto& batches = *context.computing.batches;
    std::int64_t rows = 0;
    for (const auto& part : message.plan.parts) {
        if (is_cached(part))
            for (const auto& one : context.cache.updates(part, inputs))
                rows += batches.samples(one.item->block);
        else if (is_held(part))
            for (const auto& item : part.items)
                rows += context.held.find(item.block, inputs[static_cast<std::size_t>(item.input)])
                            ? 0
                            : batches.samples(item.block);
        else
            rows += batches.samples(message.control.budget, part);
    }
    return rows;
}

TaskExecution::TaskExecution(WorkerContext& context, TaskId id, const TaskMessage& message,
                             std::int64_t draw, Seconds now, StatePlaces states)
    : context_(context), id_(id), message_(message), draw_(draw), states_(states)
{
    for (const auto& input : message.inputs) inputs_.push_back(input.version);
    deadline_ = now + message.control.budget.seconds;
    wake_ = std::min(context.straggling.delayed_until(), deadline_);
    delay_ = std::max(0.0, wake_ - now) + context.straggling.message_delay();
}

bool TaskExecution::step()
{
    switch (stage_) {
        case Stage::computing:
            compute_chunk();
            if (stage_ != Stage::computed || paused_ > 0) return false;
            [[fallthrough]];
        case Stage::computed: return finish_part();
        case Stage::late: return true;
    }
    return false;
}

// The parts that travel together with the running one.
std::span<const Part> TaskExecution::parts_in_message() const
{
    const std::span all(message_.plan.parts);
    return message_.plan.each_when_ready ? all.subspan(part_, 1) : all;
}

// Where the values begin in a message, in bytes: behind the heads of its parts and the versions of
// their items.
std::size_t TaskExecution::values_at() const
{
    std::size_t versions = 0;
    for (const auto& part : parts_in_message())
        if (is_cached(part)) versions += part.items.size();
    return MessageWriter::aligned(sizeof(ContributionHead) +
                                  parts_in_message().size() * sizeof(PartHead) +
                                  versions * sizeof(Version));
}

std::size_t TaskExecution::length(std::size_t part) const
{
    const auto& support = context_.store->support();
    return length_of(message_.plan.parts[part], support.size(),
                     static_cast<std::size_t>(support.whole()), context_.computing.model.outputs());
}

// The number of values of all parts that stand before this one in the message.
std::size_t TaskExecution::length_before(std::size_t part) const
{
    std::size_t sum = 0;
    if (!message_.plan.each_when_ready)
        for (std::size_t before = 0; before < part; ++before) sum += length(before);
    return sum;
}

std::size_t TaskExecution::values_in_message() const
{
    return message_.plan.each_when_ready ? length(part_)
                                         : length_before(message_.plan.parts.size());
}

void TaskExecution::make_room()
{
    const auto size = values_in_message();
    if (auto* blocks = context_.shared; blocks && size > 0)
        block_ = {blocks->take(doubles_for(size, precision())), [blocks](const double* block) {
                      if (block) blocks->give_back(block);
                  }};
    const auto wire = context_.computing.wire;
    if (!block_ && (compression() || !as_in_memory(wire, precision())))
        unpacked_ = context_.pool.take(size * bytes_of(precision()));
    const auto behind = message_.plan.each_when_ready ? part_ + 1 : message_.plan.parts.size();
    const auto bytes = compression() ? compressed_before(behind) : size * bytes_of(wire);
    output_ = context_.pool.take(values_at() + (block_ ? 0 : bytes));
}

// Bytes of the compressed parts that stand before this one in the message, which may be the one
// behind the last.
std::size_t TaskExecution::compressed_before(std::size_t part) const
{
    std::size_t sum = 0;
    for (auto before = message_.plan.each_when_ready ? part_ : 0; before < part; ++before)
        sum += compression().compressor->bytes(length(before));
    return sum;
}

// Compresses the running part, into the message unless the values lie in shared memory.
void TaskExecution::compress_part()
{
    std::vector<std::byte> aside(block_ ? compression().compressor->bytes(length(part_)) : 0);
    auto* to = block_ ? aside.data()
                      : reinterpret_cast<std::byte*>(output_->data()) + values_at() +
                            compressed_before(part_);
    compress(compression(), context_.worker, draw_, static_cast<int>(part_), states_, output(), to);
}

// The room for the values of the running part.
Numbers TaskExecution::output()
{
    void* values = block_      ? static_cast<void*>(block_.get())
                   : unpacked_ ? static_cast<void*>(unpacked_->data())
                               : static_cast<void*>(output_->data() + values_at());
    return numbers_at(values, length_before(part_) + length(part_), precision())
        .subspan(length_before(part_), length(part_));
}

At TaskExecution::at(Version version) const
{
    return {context_.points.at(version).values, message_.control.key(draw_, version)};
}

void TaskExecution::begin_part()
{
    begun_ = true;
    rows_ = 0;
    compute_ = 0;
    part_began_ = clock_seconds();
    if (!output_) make_room();
    const auto [oldest, newest] = versions_of(part(), inputs_);
    heads_.push_back({.info = {.worker = context_.worker,
                               .part = static_cast<int>(part_),
                               .task = id_,
                               .draw = draw_,
                               .samples = 0,
                               .oldest = oldest,
                               .newest = newest},
                      .length = static_cast<std::int64_t>(length(part_))});
    if (is_cached(part())) {
        updates_ = context_.cache.updates(part(), inputs_);
        context_.cache.retain(part(), updates_);
        return;
    }
    const auto& budget = message_.control.budget;
    Extent extent{.samples = {}, .micro_batch = budget.micro_batch, .step = message_.control.step};
    if (takes_whole_items(budget, part()))
        extent.items = std::ssize(part().items);
    else if (budget.limited())
        extent.samples =
            budget.samples > 0 ? budget.samples : std::numeric_limits<std::int64_t>::max();
    std::vector<At> points;
    for (const auto version : inputs_) points.push_back(at(version));
    for (const auto& operand : message_.operands) points.push_back({operand, 0});
    if (is_held(part())) context_.held.retain(inputs_);
    work_ = begin_work(context_.computing, context_.store->view(), part(), std::move(points),
                       extent, output(), {&context_.held, states_});
}

// The work that the running part goes on with; null: the part is complete.
Work* TaskExecution::next_work()
{
    if (!is_cached(part())) return work_->done() ? nullptr : work_.get();
    if (updates_.empty()) return nullptr;
    const auto version = updates_.front().version;
    return &context_.cache.update(updates_.front(), context_.points.at(version), at(version).key,
                                  context_.computing, context_.store->view());
}

void TaskExecution::compute_chunk()
{
    if (!begun_) begin_part();
    const auto began = clock_seconds();
    if (paused_ > 0) compute_ += began - std::exchange(paused_, 0);
    auto* work = next_work();
    const bool updating = work && is_cached(part());
    if (!work) {
        complete_part();
    } else if (updating && context_.cache.time_left() > 0) {
        wake_ = began + std::exchange(context_.cache.time_left(), 0);
        paused_ = began;
    } else if (updating && work->done()) {
        context_.cache.store();
        updates_.erase(updates_.begin());
    } else if (out_of_time(*work)) {
        work->finish();
        complete_part();
        wake_ = deadline_;
        paused_ = began;
    } else {
        const auto rows = work->step();
        const auto chunk = clock_seconds() - began;
        rows_ += rows;
        compute_ += chunk;
        if (rows > 0)
            context_.row_seconds =
                chunk * std::max(1.0, context_.straggling.slowdown()) / static_cast<double>(rows) +
                context_.straggling.row_delay();
        pace(chunk, rows);
        if (paused_ == 0 && !updating && work->done()) complete_part();
    }
}

// Whether the next micro-batch, which is computed as a whole, would end after the deadline. An item
// that counts as a whole can be given up, so it is also tried where only an estimate says that it
// does not fit.
bool TaskExecution::out_of_time(const Work& work)
{
    const auto rows = work.ahead();
    if (deadline_ == never || rows == 0) return false;
    const auto now = clock_seconds();
    const bool can_give_up = takes_whole_items(message_.control.budget, part());
    const bool too_long = part_began_ + seconds_for(rows_ + rows) > deadline_;
    if (can_give_up) return now >= deadline_ || too_long;
    if (too_long || context_.stragglers.row_time > 0) return too_long;
    if (now + static_cast<double>(rows) * context_.row_seconds <= deadline_) return false;
    // If the estimate of the time of a row is too long, no micro-batch is ever begun and the
    // estimate never mended. So it is halved until one is tried.
    if (rows_ == 0) context_.row_seconds /= 2;
    return true;
}

// Sets wake_ to when a worker with this row time and slowdown would have computed these rows. The
// caller sleeps until then, and a message interrupts that sleep.
// @param chunk, rows  of the last step
void TaskExecution::pace(Seconds chunk, std::int64_t rows)
{
    const auto now = clock_seconds();
    const auto until = context_.stragglers.row_time > 0
                           ? part_began_ + seconds_for(rows_)
                           : now + chunk * (context_.straggling.slowdown() - 1) + seconds_for(rows);
    if (until <= now) return;
    wake_ = until;
    paused_ = now;
}

void TaskExecution::complete_part()
{
    stage_ = Stage::computed;
    auto& head = heads_.back();
    if (!is_cached(part())) {
        head.info.samples = work_->samples();
        head.losses = work_->losses();
        if (takes_whole_items(message_.control.budget, part()))
            head.info.items = static_cast<int>(
                whole_items(*context_.computing.batches, part(), head.info.samples).value());
        return;
    }
    const auto cached = context_.cache.of(part());
    head.losses = add_up(part(), cached, output());
    head.versions = std::ssize(cached);
    head.info.oldest = head.info.newest = cached[0]->version;
    for (const auto* one : cached) {
        versions_.push_back(one->version);
        head.info.oldest = std::min(head.info.oldest, one->version);
        head.info.newest = std::max(head.info.newest, one->version);
        head.info.samples += one->samples;
    }
}

// Ends the running part. @return whether a message is complete and may be sent now; if the delay
// model makes messages late, it is held back until wake_.
bool TaskExecution::finish_part()
{
    const auto now = clock_seconds();
    if (paused_ > 0) compute_ += now - std::exchange(paused_, 0);
    heads_.back().info.compute = compute_;
    context_.byzantine.corrupt(context_.worker, draw_, static_cast<int>(part_), output());
    if (compression())
        compress_part();
    else if (block_)
        round(context_.computing.wire, output());  // otherwise they are, as they are packed
    ++part_;
    begun_ = false;
    work_.reset();
    stage_ = Stage::computing;
    if (part_ < message_.plan.parts.size() && !message_.plan.each_when_ready) return false;
    const auto late = context_.straggling.message_delay();
    stage_ = Stage::late;
    wake_ = now + late;
    return late == 0;
}

std::shared_ptr<transport::Bytes> TaskExecution::take_message(Seconds idle, Seconds send)
{
    MessageWriter out(*output_);
    std::int64_t values = 0;
    for (const auto& head : heads_) values += head.length;
    out.put(ContributionHead{static_cast<std::int32_t>(heads_.size()), context_.shard,
                             block_ ? context_.shared->lend(block_.get(), 0) : 0, values});
    block_.reset();
    const auto delay = std::exchange(delay_, 0);
    for (auto& head : heads_) {
        head.info.delay = delay;
        head.info.idle = idle;
        head.info.send = send;
        out.put(head);
    }
    for (const auto version : versions_) out.put(version);
    if (unpacked_ && !compression()) pack(out, static_cast<std::size_t>(values));
    unpacked_.reset();
    heads_.clear();
    versions_.clear();
    stage_ = Stage::computing;
    return std::exchange(output_, nullptr);
}

// Appends the values to the message.
void TaskExecution::pack(MessageWriter& out, std::size_t size)
{
    const auto values = numbers_at(std::as_const(*unpacked_).data(), size, precision());
    with_number(context_.computing.wire, [&]<class Number>(Number) {
        out.numbers<Number>(
            size, [&](Number* to) { values.visit([&](auto from) { convert(from, to); }); });
    });
}

void TaskExecution::stop(Seconds now)
{
    if (begun_ && is_cached(part()) && context_.cache.is_updating() && paused_ > 0)
        context_.cache.time_left() = std::max(0.0, wake_ - now);
}

}  // namespace quorate
