// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/mpi_worker.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/host.hpp"
#include "fleet/evaluation.hpp"

namespace quorate {

namespace {

std::vector<RowSet> rows_of(const Needs& needs, Worker worker)
{
    std::vector<RowSet> sets;
    for (const int block : needs.shard[static_cast<std::size_t>(worker)]) {
        const auto& rows = needs.blocks[static_cast<std::size_t>(block)];
        sets.push_back({Split::train, rows.first, rows.count});
    }
    return sets;
}

// A message that has begun to come needs a few more looks, and no bell rings for them.
constexpr Seconds soon = 20e-6;

}  // namespace

MpiWorker::MpiWorker(const mpi::Comm& comm, Worker worker, const DataSet& data,
                     const Computing& computing, const Handicap& handicap, const Liars& liars,
                     const Needs& needs, Doorbells& bells)
    : comm_(comm), worker_(worker), data_(data), computing_(computing), handicap_(handicap),
      liars_(liars), shard_(data, rows_of(needs, worker)),
      support_(parameters_of(shard_, computing.model)), place_(needs.blocks.size()), bells_(bells)
{
    const auto& held = needs.shard[static_cast<std::size_t>(worker)];
    for (std::size_t i = 0; i < held.size(); ++i) place_[static_cast<std::size_t>(held[i])] = i;
    const WorkerInfo info{comm.rank(), host_name(), shard_.rows(), 0};
    send(mpi::Tag::ready, encode_ready(info, support_, pool_));
    idle_since_ = clock_seconds();
}

void MpiWorker::run()
{
    while (!stopped_) {
        look();
        if (!task_ && !next_.empty()) begin();
        if (!task_) {
            patience_.rest(incoming_ ? soon : never);
        } else if (const auto now = clock_seconds(); now < wake_) {
            patience_.rest(incoming_ ? soon : wake_ - now);
        } else {
            patience_.reset();
            step();
        }
    }
    send(mpi::Tag::farewell, pool_.take(0));
    while (!outgoing_->done()) patience_.rest();
}

void MpiWorker::send(mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    while (outgoing_ && !outgoing_->done()) patience_.rest();
    outgoing_ = mpi::send(comm_, 0, tag, std::move(bytes));
    bells_.ring(0);
}

void MpiWorker::look()
{
    if (outgoing_ && outgoing_->done()) {
        outgoing_.reset();
        send_ = clock_seconds() - send_began_;
    }
    if (!incoming_) incoming_ = mpi::receive(comm_, 0, pool_);
    while (incoming_ && incoming_->done()) {
        take(*incoming_);
        incoming_ = mpi::receive(comm_, 0, pool_);
    }
}

void MpiWorker::take(const mpi::Transfer& mail)
{
    patience_.reset();
    switch (mail.tag) {
        case mpi::Tag::task: accept(mail.bytes); break;
        case mpi::Tag::cancel: {
            const auto last = Reader(*mail.bytes).get<TaskId>();
            if (task_ && task_->id <= last) {
                task_.reset();
                idle_since_ = clock_seconds();
            }
            std::erase_if(next_, [last](const Task& task) { return task.id <= last; });
            break;
        }
        case mpi::Tag::evaluate: evaluate(*mail.bytes); break;
        case mpi::Tag::score: score(*mail.bytes); break;
        case mpi::Tag::stop: stopped_ = true; break;
        default:
            throw Failure("a worker got a message that is not for workers: report this as a bug");
    }
}

void MpiWorker::accept(const std::shared_ptr<mpi::Bytes>& bytes)
{
    auto message = decode_task(*bytes, support_.size());
    for (const auto& input : message.inputs)
        if (input.included) points_[input.version] = {bytes, input.packed};
    if (!message.after) {
        if (task_) idle_since_ = clock_seconds();
        task_.reset();
        next_.clear();
    }
    // Points that neither this task nor one before it names are gone; the coordinator knows.
    std::erase_if(points_, [&](const auto& held) {
        const auto names = [&](const TaskMessage& task) {
            return std::any_of(task.inputs.begin(), task.inputs.end(),
                               [&](const auto& input) { return input.version == held.first; });
        };
        return !names(message) && !(task_ && names(task_->message)) &&
               std::none_of(next_.begin(), next_.end(),
                            [&](const auto& task) { return names(task.message); });
    });
    for (const auto& [worker, task] : message.recipients)
        if (worker == worker_) {
            next_.push_back({.id = task, .message = std::move(message)});
            return;
        }
    throw Failure("a task came to a worker it does not name: report this as a bug");
}

void MpiWorker::begin()
{
    task_ = std::move(next_.front());
    next_.pop_front();
    for (const auto& input : task_->message.inputs) task_->inputs.push_back(input.version);
    const auto now = clock_seconds();
    idle_ = now - idle_since_;
    // A draw's delay is paid once: a second task of the same draw sleeps what is left of it.
    if (task_->message.draw != drawn_) {
        drawn_ = task_->message.draw;
        std::int64_t rows = 0;
        for (const auto& part : task_->message.plan.parts) rows += computing_.batches.samples(part);
        const double load =
            static_cast<double>(rows) / static_cast<double>(computing_.batches.samples());
        const int machine = comm_.rank() - 1;
        factor_ = handicap_.slowdowns.draw(machine, drawn_, load);
        const auto delay = handicap_.delays.draw(machine, drawn_, load);
        reception_ = handicap_.delays.on_reception() ? delay : 0;
        delayed_ = now + delay - reception_;
    }
    wake_ = delayed_;
    task_->delay = std::max(0.0, delayed_ - now) + reception_;
    patience_.reset();
}

void MpiWorker::step()
{
    switch (task_->stage) {
        case Task::Stage::computing: compute_chunk(); break;
        case Task::Stage::computed: finish_part(); break;
        case Task::Stage::held: send_parts(); break;
    }
}

std::size_t MpiWorker::parts_in_message() const
{
    return task_->message.plan.each_when_ready ? 1 : task_->message.plan.parts.size();
}

std::size_t MpiWorker::values_at() const
{
    return Writer::aligned(sizeof(ContributionHead) + parts_in_message() * sizeof(PartHead));
}

std::span<double> MpiWorker::output(std::size_t slot)
{
    const auto size = support_.size();
    auto* values = reinterpret_cast<double*>(task_->output->data() + values_at());
    return {values + slot * size, size};
}

void MpiWorker::compute_chunk()
{
    auto& task = *task_;
    const auto& part = task.message.plan.parts[task.part];
    const auto began = clock_seconds();
    if (task.paused > 0) task.heads.back().compute += began - std::exchange(task.paused, 0);
    const auto slot = task.part % parts_in_message();
    if (!task.output)
        task.output =
            pool_.take(values_at() + parts_in_message() * support_.size() * sizeof(double));
    if (!task.sum) {
        task.part_began = began;
        std::vector<std::span<const double>> inputs;
        for (const auto version : task.inputs) inputs.push_back(points_.at(version).packed);
        task.sum = std::make_unique<PartSum>(computing_, shard_, place_, part, task.message.draw,
                                             std::move(inputs), output(slot));
        const auto [oldest, newest] = versions_of(part, task.inputs);
        task.heads.push_back({.part = static_cast<std::int32_t>(task.part),
                              .samples = 0,
                              .oldest = oldest,
                              .newest = newest,
                              .loss = 0,
                              .compute = 0});
    }
    auto& head = task.heads.back();
    head.samples += task.sum->step();
    head.loss = task.sum->loss();
    const auto chunk = clock_seconds() - began;
    head.compute += chunk;
    if (task.sum->done()) task.stage = Task::Stage::computed;
    pace(chunk);
}

// Sleeps, interruptibly, until a worker with this row time and slowdown would have got here.
void MpiWorker::pace(Seconds chunk)
{
    auto& task = *task_;
    const auto now = clock_seconds();
    const auto until = handicap_.row_time > 0
                           ? task.part_began + static_cast<double>(task.heads.back().samples) *
                                                   handicap_.row_time * factor_
                           : now + chunk * (factor_ - 1);
    if (until <= now) return;
    wake_ = until;
    task.paused = now;
}

void MpiWorker::finish_part()
{
    auto& task = *task_;
    if (task.paused > 0)
        task.heads.back().compute += clock_seconds() - std::exchange(task.paused, 0);
    liars_.falsify(worker_, task.message.draw, static_cast<int>(task.part),
                   output(task.part % parts_in_message()));
    ++task.part;
    task.sum.reset();
    task.stage = Task::Stage::computing;
    if (task.part % parts_in_message() != 0) return;
    if (reception_ > 0) {
        task.stage = Task::Stage::held;
        wake_ = clock_seconds() + reception_;
    } else {
        send_parts();
    }
}

void MpiWorker::send_parts()
{
    // A last look: an answer to a task that was replaced meanwhile would cost the coordinator its
    // receipt. And at most one unsent message: wait for the one before.
    for (const auto id = task_->id;;) {
        look();
        if (!task_ || task_->id != id || stopped_) return;
        if (!outgoing_) break;
        patience_.rest();
    }
    auto& task = *task_;
    Writer out(*task.output);
    out.put(ContributionHead{task.id, task.message.draw, task.delay, idle_, send_,
                             static_cast<std::int32_t>(task.heads.size())});
    for (const auto& head : task.heads) out.put(head);
    send_began_ = clock_seconds();
    send(mpi::Tag::contribution, std::move(task.output));
    task.output.reset();
    task.heads.clear();
    idle_ = 0;
    task.delay = 0;  // told once
    task.stage = Task::Stage::computing;
    if (task.part == task.message.plan.parts.size()) {
        task_.reset();
        idle_since_ = clock_seconds();
    }
}

void MpiWorker::evaluate(const mpi::Bytes& bytes)
{
    task_.reset();
    next_.clear();
    const auto rows = Reader(bytes).get<EvaluationRows>();
    const RowSet sets[] = {{Split::train, rows.train_first, rows.train_count},
                           {Split::test, rows.test_first, rows.test_count}};
    evaluation_.emplace(data_, std::span(sets).first(rows.test_count > 0 ? 2 : 1));
    const WorkerInfo info{comm_.rank(), "", evaluation_->rows(), 0};
    send(mpi::Tag::ready, encode_ready(info, parameters_of(*evaluation_, computing_.model), pool_));
}

void MpiWorker::score(const mpi::Bytes& bytes)
{
    send(mpi::Tag::scores, score_models(bytes, *evaluation_, computing_.model, pool_));
}

}  // namespace quorate
