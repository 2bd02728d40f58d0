// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/rank_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/drop_if.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "transport/clock.hpp"

namespace quorate {

RankWorker::RankWorker(transport::Endpoint& endpoint, const Scoring& scoring,
                       const Computing& computing, MakeCoding make_coding, OwnShare own_share,
                       const StragglerModels& stragglers, const ByzantineWorkers& byzantine,
                       Seconds timeout, WorkerMemory& memory, StateCopies& states)
    : endpoint_(endpoint), scoring_(scoring), make_coding_(std::move(make_coding)), memory_(memory),
      states_(states), mailbox_(endpoint, 10 * timeout),
      succession_(endpoint, timeout), context_{computing, stragglers, byzantine, endpoint.pool(),
                                               memory.read_here ? &memory.contributions : nullptr},
      own_share_(std::move(own_share)),
      leader_(endpoint, scoring.width(), computing.wire, computing.model.precision()),
      evaluation_(endpoint, scoring)
{
}

void RankWorker::take(const Assignment& assignment)
{
    clear();
    coding_ = make_coding_(assignment.workers);
    context_.computing.batches = &coding_->batches;
    context_.worker = assignment.worker;
    context_.shard = assignment.shard;
    context_.cache.clear();
    context_.held.clear();
    context_.states.clear();
    const auto began = clock_seconds();
    context_.store.emplace(scoring_.data, coding_->needs, assignment.code_index,
                           context_.computing.model);
    log(LogLevel::detail, fmt::format("worker {} on {}: {} rows and {} columns, loaded in {:.3f} s",
                                      assignment.worker, host_name(), context_.store->rows(),
                                      context_.store->support().size(), clock_seconds() - began));
    reserve_contributions();
    say_ready(context_.store->rows(), context_.store->support());
    if (idle_since_) idle_since_ = clock_seconds();
}

void RankWorker::present()
{
    const auto parameters = scoring_.width();
    say_ready(0, Support::of(parameters, {}));
}

void RankWorker::say_ready(std::int64_t rows, Support support)
{
    mailbox_.send(transport::Tag::ready, encode({.shard = context_.shard,
                                                 .info = {.rank = endpoint_.rank(),
                                                          .host = endpoint_.host(),
                                                          .rows = rows,
                                                          .columns = 0,
                                                          .shared = shares_memory()},
                                                 .support = std::move(support)},
                                                endpoint_.pool()));
}

// So that a lack of memory ends the run before it begins. There are two, because one may still be
// read.
void RankWorker::reserve_contributions()
{
    if (!context_.shared || !context_.store) return;
    const auto size =
        doubles_for(context_.store->support().size(), context_.computing.model.precision());
    const std::array<double*, 2> blocks = {context_.shared->take(size),
                                           context_.shared->take(size)};
    for (const auto* block : blocks) {
        if (block)
            context_.shared->give_back(block);
        else if (!idle_since_)
            throw Failure(
                fmt::format("there are no {} bytes of memory left for the contributions "
                            "of worker {}: ask for more memory, or start fewer ranks on "
                            "this host",
                            size * sizeof(double), context_.worker));
    }
}

Ending RankWorker::run(const std::atomic<bool>& leave)
{
    while (!stopped_) {
        poll();
        if (!late_.empty()) take_late(clock_seconds());
        if (leave && !has_left_) give_notice();
        if (succession_.is_asked() && succession_.agrees(mailbox_.silence()))
            throw Orphaned("others say that the coordinator is gone");
        if (!tasks_.is_running() && tasks_.has_next() && has_points(tasks_.next())) begin();
        const auto wake = tasks_.is_running() ? execution_->wake() : never;
        if (const auto now = clock_seconds(); now < wake) {
            const auto next = late_.empty() ? wake : std::min(wake, late_.front().until);
            mailbox_.wait(std::max(0.0, next - now));
        } else {
            mailbox_.restart_wait();
            if (execution_->step()) send_contribution();
        }
    }
    try {
        mailbox_.send(transport::Tag::farewell, endpoint_.pool().take(0));
        mailbox_.flush();
    } catch (const Failure&) {
        // The coordinator may end as soon as it has received the farewell. That is an error only if
        // both go on together.
        if (ending_ != Ending::apart) throw;
    }
    if (ending_ == Ending::together) endpoint_.flush();
    if (ending_ == Ending::regroup) await_others();
    return ending_;
}

std::vector<int> RankWorker::succeed()
{
    owner_.reset();
    clear();
    return succession_.agree();
}

// Waits until the coordinator says which ranks are left. What others have sent before is dropped.
void RankWorker::await_others()
{
    owner_.reset();
    clear();
    const auto receive = [this](const transport::Message& message) { succession_.take(message); };
    for (mailbox_.poll(receive); left().empty(); mailbox_.poll(receive)) mailbox_.wait();
}

void RankWorker::poll()
{
    const auto receive = [this](const transport::Message& message) { this->receive(message); };
    mailbox_.poll(receive);
    if (owner_) owner_->pass_on(receive);
}

// Begins to own a share, beside the work.
void RankWorker::own(const transport::Message& message)
{
    auto ownership = decode_ownership(*message.bytes);
    for (const int rank : ownership.shares.ranks)
        if (rank != 0 && rank != endpoint_.rank()) endpoint_.expect(rank);
    owner_.emplace(own_share_, std::move(ownership), endpoint_);
    endpoint_.rely_on_rings(false);  // other hosts cannot ring
}

void RankWorker::receive(const transport::Message& message)
{
    if (owner_ && ShareOwner::wants(message.tag)) return owner_->take(message);
    if (succession_.take(message)) return;
    switch (message.tag) {
        case transport::Tag::assign: take(MessageReader(*message.bytes).get<Assignment>()); break;
        case transport::Tag::count:
            count_ = MessageReader(*message.bytes).get<std::int64_t>();
            downlink_.set_count(count_);
            break;
        case transport::Tag::die: endpoint_.die(); break;
        case transport::Tag::task: accept(message.bytes); break;
        case transport::Tag::cancel: cancel(MessageReader(*message.bytes).get<TaskId>()); break;
        case transport::Tag::evaluate:
            clear();
            context_.shard = rows_to_score;
            [[fallthrough]];
        case transport::Tag::score: {
            auto answer = evaluation_.answer(message);
            mailbox_.send(answer.tag, std::move(answer.bytes));
            break;
        }
        case transport::Tag::stop:
            ending_ = MessageReader(*message.bytes).get<Ending>();
            stopped_ = true;
            break;
        case transport::Tag::peers:
            mailbox_.send(
                transport::Tag::met,
                encode_values(endpoint_.pool(), std::int64_t{leader_.meet(*message.bytes)}));
            break;
        case transport::Tag::keep:
            context_.shared = &memory_.contributions;
            reserve_contributions();
            // Whoever leads this host, or owns its share, rings when a point is there.
            endpoint_.rely_on_rings(true);
            break;
        case transport::Tag::own: own(message); break;
        case transport::Tag::lead:
            leader_.lead(*message.bytes);
            endpoint_.rely_on_rings(false);
            break;
        case transport::Tag::point_piece: leader_.take_piece(*message.bytes); break;
        case transport::Tag::node_point: leader_.hand_out(*message.bytes); break;
        case transport::Tag::release: leader_.release(*message.bytes); break;
        case transport::Tag::sum:
            mailbox_.send(transport::Tag::sum_answer, leader_.add_up(*message.bytes));
            break;
        case transport::Tag::state_piece:
            if (const auto kept = states_.take(message.bytes))
                mailbox_.send(transport::Tag::state_kept, encode_values(endpoint_.pool(), *kept));
            break;
        case transport::Tag::delivery:
            take_point(MessageReader(*message.bytes).get<Delivered>(), message.from);
            break;
        default:
            throw Failure("a worker got a message that is not for workers: report this as a bug");
    }
}

void RankWorker::accept(std::shared_ptr<transport::Bytes> bytes)
{
    auto message = decode_task(std::move(bytes), context_.shard, context_.store->support().size(),
                               context_.computing.wire, context_.computing.model.precision(),
                               endpoint_.pool());
    const auto machine = endpoint_.rank() - 1;
    if (const auto until = downlink_.take(context_.stragglers, machine,
                                          message.control.shared_draw(), clock_seconds()))
        late_.push_back({*until, std::move(message)});
    else
        take_task(std::move(message));
}

// Takes what was late.
void RankWorker::take_late(Seconds now)
{
    for (; !late_.empty() && late_.front().until <= now; late_.pop_front()) {
        auto& [until, task, cancelled] = late_.front();
        if (task)
            take_task(std::move(*task));
        else
            tasks_.cancel(cancelled, [this] { stop_task(); });
    }
}

// Drops all tasks up to this number. A late one drops them when it has come.
void RankWorker::cancel(TaskId last)
{
    if (late_.empty())
        tasks_.cancel(last, [this] { stop_task(); });
    else
        late_.push_back({late_.back().until, {}, last});
}

void RankWorker::take_task(TaskMessage message)
{
    const auto own =
        std::ranges::find(message.recipients, context_.worker, &TaskMessage::Recipient::worker);
    if (own == message.recipients.end())
        throw Failure("a task came to a worker it does not name: report this as a bug");
    const auto inputs = message.inputs;
    const auto owner = message.owner;
    newest_ = own->task;
    const auto local = own->local;
    tasks_.add({newest_, std::move(message), local}, [this] { stop_task(); });
    // Drop points that no task names any more, before others are taken: their memory is in a cache.
    // The coordinator reckons with that: it only leaves out points that the task it sent last
    // names.
    std::erase_if(context_.points, [this](const auto& one) { return !is_named(one.first); });
    for (const auto& input : inputs)
        if (input.travel == TaskMessage::Travel::packed)
            context_.points.try_emplace(input.version, owner, input.packed);
        else if (input.travel == TaskMessage::Travel::shared)
            context_.points.try_emplace(input.version, local_point(memory_.points, input.block));
    drop_if(early_, [this](auto& one) {
        if (one.task == newest_) context_.points.try_emplace(one.version, std::move(one.point));
        return one.task <= newest_;
    });
}

// Whether a task names this point.
bool RankWorker::is_named(Version version)
{
    return tasks_.any_of([&](const Order& order) {
        return std::ranges::any_of(order.message.inputs,
                                   [&](const auto& input) { return input.version == version; });
    });
}

// Whether the leader of the node has handed out all points of a task.
bool RankWorker::has_points(const Order& order) const
{
    return std::ranges::all_of(order.message.inputs, [this](const auto& input) {
        return context_.points.contains(input.version);
    });
}

// Takes a point that the leader of the node hands out. It may come before its task, or when that
// task is gone, or the shard for which it was.
void RankWorker::take_point(const Delivered& point, int leader)
{
    auto [at, fresh] = leaders_points_.try_emplace(leader);
    if (fresh) at->second = {point.points, leader_.readers(), endpoint_.rank()};
    if (!at->second.present() && !point.points.is_open()) {
        // The leader has died since. The next one hands the point out again.
        leaders_points_.erase(at);
        return;
    }
    if (point.shard < context_.shard) {
        at->second.borrow(point.block, 0);  // which gives it back
        return;
    }
    check_shard(point.shard, context_.shard);
    auto local = local_point(at->second, point.block);
    if (is_named(point.version))
        context_.points.try_emplace(point.version, std::move(local));
    else if (point.task >= newest_)  // the newest may come once more, to a worker that was away
        early_.push_back({point.task, point.version, std::move(local)});
}

// A point in shared memory is read where it is if the worker needs all of it. Otherwise a packed
// copy is faster: its few values stay in a cache.
LocalPoint RankWorker::local_point(BorrowedBlocks& points, std::int64_t block)
{
    const auto& support = context_.store->support();
    const auto columns = static_cast<std::size_t>(support.whole());
    const auto precision = context_.computing.model.precision();
    auto whole = points.borrow(block, doubles_for(columns, precision));
    const auto numbers = numbers_at(static_cast<const void*>(whole.get()), columns, precision);
    if (support.full()) return {std::move(whole), numbers};
    auto packed = endpoint_.pool().take(support.size() * bytes_of(precision));
    const auto values = numbers_at(packed->data(), support.size(), precision);
    values.visit([&](auto to) { support.gather(numbers, to.data()); });
    return {std::move(packed), values};
}

void RankWorker::begin()
{
    tasks_.begin();
    const auto& [task, message, local] = tasks_.running();
    const auto now = clock_seconds();
    idle_ = now - idle_since_.value_or(now);
    const auto draw = message.control.draw == own_count ? count_++ : message.control.draw;
    const auto& batches = *context_.computing.batches;
    const double share =
        static_cast<double>(rows_asked(context_, message)) / static_cast<double>(batches.samples());
    context_.straggling.begin(context_.stragglers, endpoint_.rank() - 1, draw, share, now);
    execution_.emplace(context_, task, message, draw, now, context_.states.of(task, local));
    mailbox_.restart_wait();
}

// Looks at the mailbox a last time before it sends, because receiving the answer to a task that was
// replaced meanwhile would cost the coordinator time. Waits for the message before to leave, so
// that at most one is unsent.
void RankWorker::send_contribution()
{
    const auto began = clock_seconds();
    for (const auto id = execution_->id();;) {
        poll();
        if (!execution_ || execution_->id() != id || stopped_) return;
        if (!mailbox_.is_sending()) break;
        mailbox_.wait();
    }
    idle_ += clock_seconds() - began;
    mailbox_.send(transport::Tag::contribution,
                  execution_->take_message(std::exchange(idle_, 0), mailbox_.send_seconds()));
    if (!execution_->done()) return;
    idle_since_ = clock_seconds();
    execution_.reset();
    tasks_.finish();
}

// Drops the running task.
void RankWorker::stop_task()
{
    const auto now = clock_seconds();
    idle_since_ = now;
    execution_->stop(now);
    execution_.reset();
}

// Drops all tasks and their points.
void RankWorker::clear()
{
    take_late(never);  // which returns their points
    if (tasks_.is_running()) stop_task();
    tasks_ = {};
    context_.points.clear();
    early_.clear();
}

// Leaves the run: drops all tasks and idles until the end. It waits a moment first, because the
// signal may be meant for the whole run; then the coordinator stops the run within that moment.
void RankWorker::give_notice()
{
    constexpr Seconds moment = 0.2;
    const auto now = clock_seconds();
    if (!asked_to_leave_) asked_to_leave_ = now;
    if (now - *asked_to_leave_ < moment) return;
    has_left_ = true;
    clear();
    mailbox_.send(transport::Tag::leaving, endpoint_.pool().take(0));
}

}  // namespace quorate
