// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/rank_fleet.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "transport/clock.hpp"

namespace quorate {

RankFleet::RankFleet(transport::Endpoint& endpoint, const std::vector<int>& ranks,
                     std::vector<int> standby, std::vector<int> idle, std::int64_t parameters,
                     Wire wire, Seconds timeout, CoordinatorMemory& memory)
    : endpoint_(endpoint), memory_(memory), info_(ranks.size()),
      worker_of_(static_cast<std::size_t>(endpoint.size()), -1), links_(info_.size()),
      standby_(std::move(standby)), idle_(std::move(idle)), code_index_(info_.size()),
      coded_for_(static_cast<int>(info_.size())), parameters_(parameters), wire_(wire),
      detector_(endpoint, timeout)
{
    std::iota(code_index_.begin(), code_index_.end(), 0);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        info_[i].rank = ranks[i];
        if (ranks[i] < 0) {
            links_[i].state = State::dead;
            continue;
        }
        worker_of_[static_cast<std::size_t>(ranks[i])] = static_cast<Worker>(i);
        detector_.extend_grace(ranks[i]);
    }
    settle();
    bytes_sent_ = bytes_received_ = 0;
}

Seconds RankFleet::now() const { return began_ < 0 ? 0 : clock_seconds() - began_; }

PointMemory* RankFleet::point_memory()
{
    return std::ranges::any_of(info_, &WorkerInfo::shared) ? &memory_ : nullptr;
}

void RankFleet::dispatch(const Dispatch& task, PointList inputs)
{
    if (began_ < 0) began_ = clock_seconds();
    memory_.begin();
    auto& link = links_.at(static_cast<std::size_t>(task.worker));
    if (link.state != State::here) return;
    if (link.loading) {
        link.unready.emplace_back(task, std::move(inputs));
        return;
    }
    const auto same = [&](const auto& shared) {
        return shared->support == link.loaded.support &&
               shared->message.shard == link.loaded.shard && shared->plan == task.plan &&
               shared->message.control == task.control && shared->points == inputs;
    };
    auto at = std::find_if(fresh_.begin(), fresh_.end(), same);
    if (at == fresh_.end()) {
        auto shared = std::make_shared<SharedTask>();
        shared->message.shard = link.loaded.shard;
        shared->message.control = task.control;
        shared->message.plan = *task.plan;
        for (const auto version : task.inputs) shared->message.inputs.push_back({version, {}});
        shared->plan = task.plan;
        shared->points = std::move(inputs);
        shared->support = link.loaded.support;
        at = fresh_.insert(fresh_.end(), std::move(shared));
    }
    (*at)->message.recipients.emplace_back(task.worker, task.task);
    // The latest task wins: it takes the place of those that wait to be sent. A task that follows
    // others replaces only those that would repeat.
    std::erase_if(link.waiting, [&](const Order& waiting) {
        return task.control.replaces(waiting.shared->message.control);
    });
    link.waiting.push_back({task.task, *at});
    if (!std::exchange(link.queued, true)) queue_.push_back(task.worker);
}

void RankFleet::close(Worker worker, TaskId task)
{
    auto& link = links_[static_cast<std::size_t>(worker)];
    std::erase_if(link.unready, [&](const auto& one) { return one.first.task == task; });
    std::erase_if(link.waiting, [&](const auto& order) { return order.task == task; });
    if (auto* node = first_node_of(worker))
        std::erase_if(node->handed_out,
                      [&](const auto& one) { return one.worker == worker && one.task == task; });
    if (link.sent.empty() || link.sent.back().first != task) return;
    if (link.cancel < 0) cancelled_.push_back(worker);
    link.cancel = task;
}

void RankFleet::post()
{
    fresh_.clear();
    std::erase_if(queue_, [this](Worker worker) {
        auto& to = link(worker);
        post(to, worker);
        to.queued = !to.waiting.empty();
        return !to.queued;
    });
    std::erase_if(cancelled_, [this](Worker worker) {
        auto& to = link(worker);
        if (to.cancel >= 0) post(to, worker);
        return to.cancel < 0;
    });
    tell_leaders();
    endpoint_.ring();
}

void RankFleet::post(Link& link, Worker worker)
{
    if (link.state != State::here || link.loading) return;
    if (!link.sending.has_left()) return;
    const bool replaced =
        !link.waiting.empty() && !link.waiting.front().shared->message.control.follows();
    if (link.cancel >= 0 && !replaced) {
        const bool answered = link.sent.empty() || link.sent.back().first > link.cancel;
        const auto last = std::exchange(link.cancel, -1);
        if (!answered) {
            send(link, worker, transport::Tag::cancel, encode_values(endpoint_.pool(), last));
            return;
        }
    }
    if (link.waiting.empty()) return;
    link.cancel = -1;
    const auto order = std::move(link.waiting.front());
    link.waiting.pop_front();
    send_task(link, worker, order.task, *order.shared);
    link.sent.emplace_back(order.task, now());
    link.held.clear();
    for (const auto& input : order.shared->message.inputs) link.held.push_back(input.version);
}

TaskMessage::Travel RankFleet::travel(const Link& link, Worker worker, Version version,
                                      const Point& point)
{
    using enum TaskMessage::Travel;
    // A point may still wait for its turn to go to the leader, so the worker need not hold it.
    if (node_of(worker)) return by_leader;
    if (std::find(link.held.begin(), link.held.end(), version) != link.held.end()) return held;
    const bool reads = info_[static_cast<std::size_t>(worker)].shared;
    return reads && memory_.name(point) != 0 ? shared : packed;
}

void RankFleet::send_task(Link& link, Worker worker, TaskId task, SharedTask& shared)
{
    auto& inputs = shared.message.inputs;
    // The worker drops what it had to do before, so nothing of that need be handed out again.
    if (auto* node = node_of(worker); node && !shared.message.control.follows())
        std::erase_if(node->handed_out, [&](const auto& one) { return one.worker == worker; });
    std::vector<TaskMessage::Travel> travels;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& point = shared.points[i];
        travels.push_back(travel(link, worker, inputs[i].version, point));
        if (auto* node = node_of(worker))
            node->handed_out.push_back({worker, link.loaded.shard, task, inputs[i].version, point});
        if (travels.back() != TaskMessage::Travel::shared) continue;
        memory_.lend(point, rank(worker));
        bytes_sent_ += static_cast<std::int64_t>(shared.support->size() * bytes_of(wire_));
    }
    auto at = std::ranges::find(shared.encoded, travels, [](const auto& one) { return one.first; });
    if (at == shared.encoded.end()) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            inputs[i].travel = travels[i];
            inputs[i].block = memory_.name(shared.points[i]);
        }
        auto bytes = encode(shared.message, {shared.points.data(), shared.points.size()},
                            *shared.support, wire_, endpoint_.pool());
        at = shared.encoded.emplace(at, std::move(travels), std::move(bytes));
    }
    send(link, worker, transport::Tag::task, at->second);
}

void RankFleet::send(Link& link, Worker worker, transport::Tag tag,
                     std::shared_ptr<transport::Bytes> bytes)
{
    constexpr Seconds slow = 1e-7;  // for a byte, on a link of 10 MB/s
    bytes_sent_ += static_cast<std::int64_t>(bytes->size());
    detector_.allow(rank(worker), slow * static_cast<double>(bytes->size()));
    link.sending = endpoint_.send(rank(worker), tag, std::move(bytes));
}

RankFleet::Came RankFleet::came(transport::Message message)
{
    bytes_received_ += static_cast<std::int64_t>(message.bytes->size());
    detector_.is_alive(message.from);
    Came one{std::move(message)};
    if (one.tag != transport::Tag::contribution) return one;
    const auto head = Reader(*one.bytes).get<ContributionHead>();
    const auto values = static_cast<std::size_t>(head.values);
    if (head.block != 0 && memory_.reads(one.from)) {
        one.values = memory_.contribution(one.from, head.block, values);
        bytes_received_ += static_cast<std::int64_t>(values * bytes_of(wire_));
    } else if (const auto worker = worker_of(one.from); head.block != 0 && worker >= 0) {
        one.values = owner_of({worker, head.block}, released_);
    }
    return one;
}

bool RankFleet::progress()
{
    bool any = false;
    for (; auto message = endpoint_.receive(); any = true)
        arrived_.push_back(came(std::move(*message)));
    return any;
}

void RankFleet::progress_or_wait()
{
    if (!progress()) endpoint_.wait();
}

std::vector<Arrival> RankFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    endpoint_.restart_wait();
    for (;;) {
        post();
        find_dead();
        while (!arrived_.empty()) {
            take_note(arrived_.front());
            if (!changes_.empty()) break;
            const auto message = std::move(arrived_.front());
            arrived_.pop_front();
            const auto worker = worker_of(message.from);
            if (message.tag == transport::Tag::contribution && worker >= 0 &&
                link(worker).state != State::dead)
                return unpack(message);
        }
        if (!changes_.empty()) return {};
        if (progress()) continue;
        const auto left = until - now();
        if (left <= 0 || stop) return {};
        endpoint_.wait(left);
    }
}

std::vector<Arrival> RankFleet::unpack(const Came& message)
{
    const Worker worker = worker_of(message.from);
    auto& link = links_.at(static_cast<std::size_t>(worker));
    Reader in(*message.bytes);
    const auto [count, shard, block, total] = in.get<ContributionHead>();
    std::vector<PartHead> parts;
    for (int i = 0; i < count; ++i) parts.push_back(in.get<PartHead>());
    std::vector<std::vector<Version>> versions(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
        for (std::int64_t item = 0; item < parts[i].versions; ++item)
            versions[i].push_back(in.get<Version>());
    const auto task = parts.at(0).info.task;
    while (!link.sent.empty() && link.sent.front().first < task) link.sent.pop_front();
    const auto sent = link.sent.empty() ? 0 : link.sent.front().second;
    // A contribution for a shard before has no values: its task was closed when the worker was told
    // to load another one.
    const bool current = shard >= link.shard;
    if (current) check_shard(shard, link.loading ? -1 : link.shard);
    const bool kept = block != 0 && !message.values;  // at its node
    const auto bytes = static_cast<std::int64_t>(message.bytes->size()) +
                       (message.values ? total * static_cast<std::int64_t>(bytes_of(wire_)) : 0);
    const auto size = kept ? 0 : static_cast<std::size_t>(total);
    const Packed all = message.values ? std::span<const double>(message.values.get(), size)
                                      : with_number(wire_, [&]<class Number>(Number) -> Packed {
                                            return in.numbers<Number>(size);
                                        });
    std::shared_ptr<const void> owner = message.bytes;
    if (block != 0) owner = message.values;
    std::size_t before = 0;  // values of earlier parts
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& part = parts[i];
        const auto handle = slots_.take();
        if (current) {
            const auto length = static_cast<std::size_t>(part.length);
            auto& slot = slots_.at(handle);
            slot = {owner, {}, {}, link.loaded, part.losses};
            if (kept) {
                slot.block = block;
                slot.first = static_cast<std::int64_t>(before);
                slot.length = part.length;
            } else {
                slot.packed = std::visit(
                    [&](auto numbers) -> Packed { return numbers.subspan(before, length); }, all);
            }
            before += length;
        }
        arrivals.push_back({part.info, std::move(versions[i]), sent, now(), bytes / count, handle});
    }
    return arrivals;
}

std::size_t RankFleet::adopt(Worker worker, const Values& values)
{
    const auto handle = slots_.take();
    auto& slot = slots_.at(handle);
    auto of = link(worker).loaded;
    // The worker may have died before it had loaded what these values are of.
    if (!of.support || *of.support != values.support)
        of = {worker, link(worker).shard, std::make_shared<const Support>(values.support)};
    slot = {nullptr, {}, values.doubles(), std::move(of), values.losses, 0, 0, 0};
    slot.packed = std::span<const double>(slot.adopted);
    return handle;
}

void RankFleet::set_clock(Seconds now, std::span<const std::int64_t> counts)
{
    began_ = clock_seconds() - now;
    for (std::size_t i = 0; i < links_.size(); ++i)
        if (counts[i] > 0 && links_[i].state != State::dead)
            send_aside(rank(static_cast<Worker>(i)), transport::Tag::count,
                       encode_values(endpoint_.pool(), counts[i]));
}

Values RankFleet::values(std::size_t handle)
{
    const auto& slot = slots_.at(handle);
    if (slot.block != 0)
        throw std::logic_error("a scheme needs contributions here that lie at their nodes");
    if (!slot.of.support)
        throw std::logic_error("a step uses a contribution to a task from before a re-encoding");
    return {*slot.of.support, slot.packed, slot.losses};
}

void RankFleet::release(std::size_t handle)
{
    slots_.at(handle) = {};
    slots_.give_back(handle);
}

void RankFleet::finish(bool finalize)
{
    std::vector<int> ranks = idle_;
    // One of them may have scored models until now, and answered no ping.
    for (const int rank : idle_) detector_.extend_grace(rank);
    ranks.insert(ranks.end(), standby_.begin(), standby_.end());
    for (const auto worker : living()) ranks.push_back(rank(worker));
    for (const int rank : ranks)
        send_aside(rank, transport::Tag::stop,
                   encode_values(endpoint_.pool(), std::int64_t{finalize}));
    endpoint_.restart_wait();
    while (!ranks.empty() || endpoint_.is_receiving()) {
        find_dead();
        progress_or_wait();
        for (const auto& message : arrived_)
            if (message.tag == transport::Tag::farewell) std::erase(ranks, message.from);
        arrived_.clear();
        std::erase_if(ranks, [this](int rank) { return has_died(rank); });
    }
    if (finalize) endpoint_.flush();
}

}  // namespace quorate
