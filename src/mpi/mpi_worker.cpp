// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/mpi_worker.hpp"

#include <algorithm>
#include <csignal>
#include <limits>

#include "base/error.hpp"
#include "base/host.hpp"
#include "compute/product.hpp"
#include "mpi/clock.hpp"
#include "mpi/evaluation.hpp"

namespace quorate {

namespace {

// A message that has begun to come needs a few more looks, and no bell rings for them.
constexpr Seconds soon = 20e-6;

}  // namespace

MpiWorker::MpiWorker(const mpi::Comm& comm, const DataSet& data, const Computing& computing,
                     const MakeCoding& make_coding, const StragglerEmulation& emulation,
                     const ByzantineWorkers& byzantine, Seconds timeout, Doorbells& bells)
    : comm_(comm), data_(data), computing_(computing), make_coding_(make_coding),
      emulation_(emulation), byzantine_(byzantine), bells_(bells), detector_(1, 10 * timeout, bells)
{
}

void MpiWorker::take(const Assignment& assignment)
{
    clear();
    coding_ = make_coding_(assignment.workers);
    computing_.batches = &coding_->batches;
    worker_ = assignment.worker;
    cache_.clear();
    pending_.reset();
    store_.emplace(data_, coding_->needs, assignment.code_index, computing_.model);
    const WorkerInfo info{comm_.rank(), host_name(), store_->rows(), 0};
    send(mpi::Tag::ready, encode_ready(info, support(), pool_));
    if (idle_since_) idle_since_ = clock_seconds();
}

// Nothing is to be done any more.
void MpiWorker::clear()
{
    if (task_) drop();
    next_.clear();
    points_.clear();
}

bool MpiWorker::run(const std::atomic<bool>& leave)
{
    while (!stopped_) {
        look();
        if (leave && !told_) give_notice();
        if (!task_ && !next_.empty()) begin();
        if (!task_) {
            rest(incoming_ ? soon : never);
        } else if (const auto now = clock_seconds(); now < wake_) {
            rest(incoming_ ? soon : wake_ - now);
        } else {
            backoff_.reset();
            step();
        }
    }
    try {
        send(mpi::Tag::farewell, pool_.take(0));
        while (!outgoing_->done()) rest();
    } catch (const Failure&) {
        // The coordinator may end as soon as this has come.
        if (finalize_) throw;
    }
    return finalize_;
}

void MpiWorker::rest(Seconds at_most)
{
    if (detector_.is_dead(0)) throw Orphaned("the coordinator is gone");
    backoff_.wait(at_most);
}

// The worker leaves: it drops what it does, and idles until the end. A signal that was meant for the
// whole run has stopped the coordinator a moment later.
void MpiWorker::give_notice()
{
    constexpr Seconds moment = 0.2;
    if (asked_ < 0) asked_ = clock_seconds();
    if (clock_seconds() - asked_ < moment) return;
    told_ = true;
    clear();
    send(mpi::Tag::leaving, pool_.take(0));
}

void MpiWorker::send(mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    while (outgoing_ && !outgoing_->done()) rest();
    outgoing_ = mpi::send(comm_, 0, tag, std::move(bytes));
    bells_.ring(0);
}

void MpiWorker::look()
{
    if (outgoing_ && outgoing_->done()) {
        if (outgoing_->tag == mpi::Tag::contribution) send_ = clock_seconds() - send_began_;
        outgoing_.reset();
    }
    if (!incoming_) incoming_ = mpi::receive(comm_, 0, pool_);
    while (incoming_ && incoming_->done()) {
        take(*incoming_);
        incoming_ = mpi::receive(comm_, 0, pool_);
    }
}

void MpiWorker::take(const mpi::Transfer& mail)
{
    backoff_.reset();
    detector_.is_alive(0);
    switch (mail.tag) {
        case mpi::Tag::assign: take(Reader(*mail.bytes).get<Assignment>()); break;
        case mpi::Tag::ping:
            if (aside_ && !aside_->done()) break;  // the last answer is still on its way
            aside_ = mpi::send(comm_, 0, mpi::Tag::pong, pool_.take(0));
            bells_.ring(0);
            break;
        case mpi::Tag::count: count_ = Reader(*mail.bytes).get<std::int64_t>(); break;
        case mpi::Tag::die: std::raise(SIGKILL); break;
        case mpi::Tag::task: accept(mail.bytes); break;
        case mpi::Tag::cancel: {
            const auto last = Reader(*mail.bytes).get<TaskId>();
            if (task_ && task_->id <= last) drop();
            std::erase_if(next_, [last](const Task& task) { return task.id <= last; });
            break;
        }
        case mpi::Tag::evaluate: evaluate(*mail.bytes); break;
        case mpi::Tag::score: score(*mail.bytes); break;
        case mpi::Tag::stop:
            finalize_ = Reader(*mail.bytes).get<std::int64_t>() != 0;
            stopped_ = true;
            break;
        default:
            throw Failure("a worker got a message that is not for workers: report this as a bug");
    }
}

void MpiWorker::drop()
{
    const auto now = clock_seconds();
    idle_since_ = now;
    if (pending_ && task_->paused > 0) pending_->left = std::max(0.0, wake_ - now);
    task_.reset();
}

void MpiWorker::accept(const std::shared_ptr<mpi::Bytes>& bytes)
{
    auto message = decode_task(*bytes, support().size());
    for (const auto& input : message.inputs)
        if (input.included) points_.try_emplace(input.version, HeldPoint{bytes, input.packed});
    if (message.after) {
        std::erase_if(next_, [](const Task& waiting) { return waiting.message.repeat; });
    } else {
        if (task_) drop();
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
            next_.push_back({.id = task, .message = std::move(message), .bytes = bytes});
            return;
        }
    throw Failure("a task came to a worker it does not name: report this as a bug");
}

// Rows that the running task asks for.
std::int64_t MpiWorker::load() const
{
    const auto& message = task_->message;
    std::int64_t rows = 0;
    for (const auto& part : message.plan.parts) {
        if (is_cached(part))
            for (const auto& one : updates_of(part))
                rows += computing_.batches->samples(one.item->block);
        else
            rows += computing_.batches->samples(message.budget, part);
    }
    return rows;
}

void MpiWorker::begin()
{
    task_ = std::move(next_.front());
    next_.pop_front();
    auto& task = *task_;
    const auto& message = task.message;
    task.inputs.clear();
    for (const auto& input : message.inputs) task.inputs.push_back(input.version);
    const auto now = clock_seconds();
    idle_ = now - idle_since_.value_or(now);
    task.draw = message.draw == own_count ? count_++ : message.draw;
    // A draw's delay is paid once: a second task of the same draw sleeps what is left of it.
    if (task.draw != drawn_) {
        drawn_ = task.draw;
        const double share =
            static_cast<double>(load()) / static_cast<double>(computing_.batches->samples());
        const int machine = comm_.rank() - 1;
        factor_ = emulation_.slowdowns.draw(machine, drawn_, share);
        const auto delay = emulation_.delays.draw(machine, drawn_, share);
        reception_ = emulation_.delays.on_reception() ? delay : 0;
        delayed_ = now + delay - reception_;
    }
    task.deadline = now + message.budget.seconds;
    wake_ = std::min(delayed_, task.deadline);
    task.delay = std::max(0.0, wake_ - now) + reception_;
    backoff_.reset();
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

// Behind the heads of the parts in a message, and the versions of their items.
std::size_t MpiWorker::values_at() const
{
    std::size_t versions = 0;
    for (const auto& part : task_->message.plan.parts)
        if (is_cached(part)) versions += part.items.size();
    return Writer::aligned(sizeof(ContributionHead) + parts_in_message() * sizeof(PartHead) +
                           versions * sizeof(Version));
}

std::size_t MpiWorker::length(std::size_t part) const
{
    return length_of(task_->message.plan.parts[part], support().size(), computing_.model.outputs());
}

// Of all parts in the message that stand before this one.
std::size_t MpiWorker::length_before(std::size_t part) const
{
    std::size_t sum = 0;
    if (!task_->message.plan.each_when_ready)
        for (std::size_t before = 0; before < part; ++before) sum += length(before);
    return sum;
}

// Where the values of the running part belong.
std::span<double> MpiWorker::output()
{
    const auto part = task_->part;
    auto* values = reinterpret_cast<double*>(task_->output->data() + values_at());
    return {values + length_before(part), length(part)};
}

At MpiWorker::at(Version version) const
{
    return {points_.at(version).packed, task_->message.draw == own_count ? task_->draw : version};
}

void MpiWorker::begin_part()
{
    auto& task = *task_;
    const auto& part = task.message.plan.parts[task.part];
    task.begun = true;
    task.rows = 0;
    task.compute = 0;
    task.part_began = clock_seconds();
    if (!task.output)
        task.output =
            pool_.take(values_at() + (parts_in_message() == 1
                                          ? length(task.part)
                                          : length_before(task.message.plan.parts.size())) *
                                         sizeof(double));
    const auto [oldest, newest] = versions_of(part, task.inputs);
    task.heads.push_back({.part = static_cast<std::int32_t>(task.part),
                          .samples = 0,
                          .length = static_cast<std::int64_t>(length(task.part)),
                          .oldest = oldest,
                          .newest = newest,
                          .loss = 0,
                          .compute = 0});
    if (is_cached(part)) {
        task.updates = updates_of(part);
        evict(part);
        return;
    }
    const auto& budget = task.message.budget;
    Extent extent{.samples = {}, .micro_batch = budget.micro_batch, .step = task.message.step};
    if (budget.limited())
        extent.samples =
            budget.samples > 0 ? budget.samples : std::numeric_limits<std::int64_t>::max();
    std::vector<At> points;
    for (const auto version : task.inputs) points.push_back(at(version));
    for (const auto& operand : task.message.operands) points.push_back({operand, 0});
    task.work = begin_work(computing_, held(), part, std::move(points), extent, output());
}

std::vector<CacheUpdate> MpiWorker::updates_of(const Part& part) const
{
    std::map<int, Version> versions;
    for (const auto& [block, cached] : cache_) versions[block] = cached.version;
    std::optional<std::pair<int, Version>> begun;
    if (pending_) begun = {pending_->part.items[0].block, pending_->gradient.version};
    return cache_updates(part, task_->inputs, versions, begun);
}

// What the newest task does not name is evicted.
void MpiWorker::evict(const Part& part)
{
    std::erase_if(cache_, [&](const auto& cached) {
        return std::ranges::find(part.items, cached.first, &Item::block) == part.items.end();
    });
    if (pending_ && std::ranges::none_of(task_->updates, [&](const CacheUpdate& one) {
            return pending_->is_for(one);
        }))
        pending_.reset();
}

void MpiWorker::begin_update(const CacheUpdate& wanted)
{
    if (pending_ && pending_->is_for(wanted)) return;
    pending_ = std::make_unique<PendingUpdate>();
    pending_->part.items = {Item{.block = wanted.item->block}};
    pending_->point = points_.at(wanted.version);
    pending_->gradient = {.version = wanted.version,
                          .values = std::vector<double>(support().size())};
    pending_->work = begin_work(computing_, held(), pending_->part, {at(wanted.version)}, {},
                                pending_->gradient.values);
}

// What is to be computed next for the running part; none: it is complete.
Work* MpiWorker::next_work()
{
    auto& task = *task_;
    const auto& part = task.message.plan.parts[task.part];
    if (!is_cached(part)) return task.work->done() ? nullptr : task.work.get();
    if (task.updates.empty()) return nullptr;
    begin_update(task.updates.front());
    return pending_->work.get();
}

void MpiWorker::compute_chunk()
{
    auto& task = *task_;
    if (!task.begun) begin_part();
    const auto began = clock_seconds();
    if (task.paused > 0) task.compute += began - std::exchange(task.paused, 0);
    auto* work = next_work();
    if (!work) {
        complete_part();
    } else if (pending_ && pending_->left > 0) {
        wake_ = began + std::exchange(pending_->left, 0);
        task.paused = began;
    } else if (pending_ && work->done()) {
        auto& gradient = pending_->gradient;
        gradient.samples = work->samples();
        gradient.loss = work->loss();
        cache_[pending_->part.items[0].block] = std::move(gradient);
        pending_.reset();
        task.updates.erase(task.updates.begin());
    } else if (out_of_time(*work)) {
        work->finish();
        complete_part();
        wake_ = task.deadline;
        task.paused = began;
    } else {
        const auto rows = work->step();
        const auto chunk = clock_seconds() - began;
        task.rows += rows;
        task.compute += chunk;
        if (rows > 0) row_seconds_ = chunk * std::max(1.0, factor_) / static_cast<double>(rows);
        pace(chunk);
    }
}

// Whether what would be computed as a whole next would not be done in time.
bool MpiWorker::out_of_time(const Work& work)
{
    const auto& task = *task_;
    const auto rows = work.ahead();
    if (task.deadline == never || rows == 0) return false;
    const auto now = clock_seconds();
    if (emulation_.row_time > 0)
        return task.part_began +
                   static_cast<double>(task.rows + rows) * emulation_.row_time * factor_ >
               task.deadline;
    if (now + static_cast<double>(rows) * row_seconds_ <= task.deadline) return false;
    // Where nothing is ever tried, nothing new is learnt.
    if (task.rows == 0) row_seconds_ /= 2;
    return true;
}

// Sleeps, interruptibly, until a worker with this row time and slowdown would have got here.
void MpiWorker::pace(Seconds chunk)
{
    auto& task = *task_;
    const auto now = clock_seconds();
    const auto until = emulation_.row_time > 0 ? task.part_began + static_cast<double>(task.rows) *
                                                                       emulation_.row_time * factor_
                                               : now + chunk * (factor_ - 1);
    if (until <= now) return;
    wake_ = until;
    task.paused = now;
}

void MpiWorker::complete_part()
{
    auto& task = *task_;
    const auto& part = task.message.plan.parts[task.part];
    task.stage = Task::Stage::computed;
    auto& head = task.heads.back();
    if (!is_cached(part)) {
        head.samples = task.work->samples();
        head.loss = task.work->loss();
        return;
    }
    std::vector<const CachedGradient*> cached;
    for (const auto& item : part.items) cached.push_back(&cache_.at(item.block));
    add_up(part, cached, output());
    head.versions = static_cast<std::int32_t>(cached.size());
    head.oldest = head.newest = cached[0]->version;
    for (const auto* one : cached) {
        task.versions.push_back(one->version);
        head.oldest = std::min(head.oldest, one->version);
        head.newest = std::max(head.newest, one->version);
        head.samples += one->samples;
        head.loss += one->loss;
    }
}

void MpiWorker::finish_part()
{
    auto& task = *task_;
    const auto now = clock_seconds();
    if (task.paused > 0) task.compute += now - std::exchange(task.paused, 0);
    task.heads.back().compute = task.compute;
    byzantine_.corrupt(worker_, task.draw, static_cast<int>(task.part), output());
    ++task.part;
    task.begun = false;
    task.work.reset();
    task.stage = Task::Stage::computing;
    const auto& plan = task.message.plan;
    if (task.part < plan.parts.size() && !plan.each_when_ready) return;
    if (reception_ > 0) {
        task.stage = Task::Stage::held;
        wake_ = now + reception_;
    } else {
        send_parts();
    }
}

void MpiWorker::send_parts()
{
    // A last look: an answer to a task that was replaced meanwhile would cost the coordinator its
    // receipt. And at most one unsent message: wait for the one before.
    const auto began = clock_seconds();
    for (const auto id = task_->id;;) {
        look();
        if (!task_ || task_->id != id || stopped_) return;
        if (!outgoing_) break;
        rest();
    }
    auto& task = *task_;
    send_began_ = clock_seconds();
    idle_ += send_began_ - began;
    Writer out(*task.output);
    out.put(ContributionHead{task.id, task.draw, task.delay, idle_, send_,
                             static_cast<std::int32_t>(task.heads.size())});
    for (const auto& head : task.heads) out.put(head);
    for (const auto version : task.versions) out.put(version);
    send(mpi::Tag::contribution, std::move(task.output));
    task.output.reset();
    task.heads.clear();
    task.versions.clear();
    idle_ = 0;
    task.delay = 0;  // told once
    task.stage = Task::Stage::computing;
    if (task.part < task.message.plan.parts.size()) return;
    idle_since_ = clock_seconds();
    if (task.message.repeat && next_.empty())
        next_.push_back({task.id, std::move(task.message), task.bytes});
    task_.reset();
}

void MpiWorker::evaluate(const mpi::Bytes& bytes)
{
    task_.reset();
    next_.clear();
    const auto rows = Reader(bytes).get<EvaluationRows>();
    evaluation_.emplace(evaluation_shard(data_, rows));
    const WorkerInfo info{comm_.rank(), "", evaluation_->rows(), 0};
    send(mpi::Tag::ready, encode_ready(info, parameters_of(*evaluation_, computing_.model), pool_));
}

void MpiWorker::score(const mpi::Bytes& bytes)
{
    send(mpi::Tag::scores, score_models(bytes, *evaluation_, computing_.model, pool_));
}

}  // namespace quorate
