// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/mpi_fleet.hpp"

#include <algorithm>
#include <numeric>

#include "base/drop_if.hpp"
#include "base/error.hpp"
#include "mpi/clock.hpp"

namespace quorate {

namespace {

// Longest sleep while a message is arriving: it needs a few more calls of MPI_Test, and no bell
// rings for these.
constexpr Seconds soon = 20e-6;

}  // namespace

MpiFleet::MpiFleet(const mpi::Comm& comm, const std::vector<int>& ranks, std::vector<int> standby,
                   std::vector<int> idle, std::int64_t parameters, Wire wire, Seconds timeout,
                   Doorbells& bells, CoordinatorMemory& memory)
    : comm_(comm), bells_(bells), memory_(memory), info_(ranks.size()),
      worker_of_(static_cast<std::size_t>(comm.size()), -1), links_(info_.size()),
      standby_(std::move(standby)), idle_(std::move(idle)), code_index_(info_.size()),
      coded_for_(static_cast<int>(info_.size())), parameters_(parameters), wire_(wire),
      detector_(comm.size(), timeout, bells)
{
    std::iota(code_index_.begin(), code_index_.end(), 0);
    for (int rank = 1; rank < comm.size(); ++rank)
        if (memory.has_channel(rank)) channels_.push_back(rank);
    all_channels_ = std::ssize(channels_) == comm.size() - 1;
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

Seconds MpiFleet::now() const { return began_ < 0 ? 0 : clock_seconds() - began_; }

PointMemory* MpiFleet::point_memory()
{
    return std::ranges::any_of(info_, &WorkerInfo::shared) ? &memory_ : nullptr;
}

void MpiFleet::dispatch(const Dispatch& task, PointList inputs)
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

void MpiFleet::close(Worker worker, TaskId task)
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

void MpiFleet::post()
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
    ring_bells();
}

// Bells ring when all messages are sent: a worker that wakes may take the coordinator's core.
void MpiFleet::ring_bells()
{
    for (const int rank : to_ring_) bells_.ring(rank);
    to_ring_.clear();
}

void MpiFleet::post(Link& link, Worker worker)
{
    if (link.state != State::here || link.loading) return;
    if (link.sending) {
        if (!done(*link.sending)) return;
        link.sending.reset();
    }
    const bool replaced =
        !link.waiting.empty() && !link.waiting.front().shared->message.control.follows();
    if (link.cancel >= 0 && !replaced) {
        const bool answered = link.sent.empty() || link.sent.back().first > link.cancel;
        const auto last = std::exchange(link.cancel, -1);
        if (!answered) {
            send(link, worker, mpi::Tag::cancel, encode_values(pool_, last));
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

TaskMessage::Travel MpiFleet::travel(const Link& link, Worker worker, Version version,
                                     const Point& point)
{
    using enum TaskMessage::Travel;
    // A point may still wait for its turn to go to the leader, so the worker need not hold it.
    if (node_of(worker)) return by_leader;
    if (std::find(link.held.begin(), link.held.end(), version) != link.held.end()) return held;
    const bool reads = info_[static_cast<std::size_t>(worker)].shared;
    return reads && memory_.name(point) != 0 ? shared : packed;
}

void MpiFleet::send_task(Link& link, Worker worker, TaskId task, SharedTask& shared)
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
                            *shared.support, wire_, pool_);
        at = shared.encoded.emplace(at, std::move(travels), std::move(bytes));
    }
    send(link, worker, mpi::Tag::task, at->second);
}

void MpiFleet::send(Link& link, Worker worker, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    bytes_sent_ += static_cast<std::int64_t>(bytes->size());
    link.sending = try_send(rank(worker), tag, std::move(bytes));
}

// An error of MPI in speaking to a rank means that the rank is dead. MPI does not report every
// death.
std::optional<mpi::Transfer> MpiFleet::try_send(int rank, mpi::Tag tag,
                                                std::shared_ptr<mpi::Bytes> bytes)
{
    try {
        std::optional<mpi::Transfer> sent;
        if (memory_.has_channel(rank))
            sent = memory_.channel(rank).send(comm_, rank, tag, std::move(bytes));
        else
            sent = mpi::send(comm_, rank, tag, std::move(bytes));
        sends_by_mpi_ |= sent->request != MPI_REQUEST_NULL;
        to_ring_.push_back(rank);
        return sent;
    } catch (const mpi::Error&) {
        detector_.mark_unreachable(rank);
        return std::nullopt;
    }
}

bool MpiFleet::done(mpi::Transfer& transfer)
{
    try {
        return transfer.done();
    } catch (const mpi::Error&) {
        detector_.mark_unreachable(transfer.peer);
        transfer.failed = true;
        return true;
    }
}

void MpiFleet::receive_by_channels()
{
    awaits_mpi_ = false;
    const auto before = std::ssize(incoming_);
    for (const int rank : channels_) {
        auto& channel = memory_.channel(rank);
        while (auto message = channel.receive(rank, pool_, bells_))
            incoming_.push_back(std::move(*message));
        awaits_mpi_ |= channel.awaits_mpi();
    }
    // In the order in which they were sent: schemes that wait for the first answers must not prefer
    // some ranks.
    std::ranges::stable_sort(incoming_.begin() + before, incoming_.end(), {}, &mpi::Transfer::sent);
}

bool MpiFleet::sends_by_mpi()
{
    if (!sends_by_mpi_) return false;
    const auto under_way = [this](mpi::Transfer& one) { return !done(one); };
    sends_by_mpi_ = std::ranges::any_of(aside_, under_way);
    for (auto& link : links_) sends_by_mpi_ |= link.sending && under_way(*link.sending);
    for (auto& [since, piece] : pieces_) sends_by_mpi_ |= under_way(piece);
    return sends_by_mpi_;
}

void MpiFleet::receive()
{
    receive_by_channels();
    if (all_channels_ && !awaits_mpi_ && !sends_by_mpi()) return;
    bool turn = false;
    while (auto message = mpi::receive(comm_, MPI_ANY_SOURCE, pool_)) {
        if (memory_.has_channel(message->peer)) {
            turn = true;
            memory_.channel(message->peer).take(std::move(*message));
        } else {
            incoming_.push_back(std::move(*message));
        }
    }
    if (turn) receive_by_channels();
}

void MpiFleet::sleep(Seconds at_most)
{
    const bool arriving = !incoming_.empty() || awaits_mpi_;
    backoff_.wait(arriving ? std::min(at_most, soon) : at_most, all_channels_ && !sends_by_mpi_);
}

bool MpiFleet::progress()
{
    receive();
    bool any = false;
    drop_if(incoming_, [&](mpi::Transfer& message) {
        if (!done(message)) return false;
        if (message.failed) return true;
        bytes_received_ += static_cast<std::int64_t>(message.bytes->size());
        detector_.is_alive(message.peer);
        if (message.tag == mpi::Tag::contribution) {
            const auto head = Reader(*message.bytes).get<ContributionHead>();
            const auto values = static_cast<std::size_t>(head.values);
            if (head.block != 0 && memory_.reads(message.peer)) {
                message.values = memory_.contribution(message.peer, head.block, values);
                bytes_received_ += static_cast<std::int64_t>(values * bytes_of(wire_));
            } else if (const auto worker = worker_of(message.peer);
                       head.block != 0 && worker >= 0) {
                message.values = owner_of({worker, head.block}, released_);
            }
        }
        arrived_.push_back(std::move(message));
        return any = true;
    });
    return any;
}

std::vector<Arrival> MpiFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    backoff_.reset();
    for (;;) {
        post();
        find_dead();
        while (!arrived_.empty()) {
            take_note(arrived_.front());
            if (!changes_.empty()) break;
            const auto message = std::move(arrived_.front());
            arrived_.pop_front();
            const auto worker = worker_of(message.peer);
            if (message.tag == mpi::Tag::contribution && worker >= 0 &&
                link(worker).state != State::dead)
                return unpack(message);
        }
        if (!changes_.empty()) return {};
        if (progress()) continue;
        const auto left = until - now();
        if (left <= 0 || stop) return {};
        sleep(left);
    }
}

std::vector<Arrival> MpiFleet::unpack(const mpi::Transfer& message)
{
    const Worker worker = worker_of(message.peer);
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

std::size_t MpiFleet::adopt(Worker worker, const Values& values)
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

void MpiFleet::set_clock(Seconds now, std::span<const std::int64_t> counts)
{
    began_ = clock_seconds() - now;
    for (std::size_t i = 0; i < links_.size(); ++i)
        if (counts[i] > 0 && links_[i].state != State::dead)
            send_aside(rank(static_cast<Worker>(i)), mpi::Tag::count,
                       encode_values(pool_, counts[i]));
}

Values MpiFleet::values(std::size_t handle)
{
    const auto& slot = slots_.at(handle);
    if (slot.block != 0)
        throw std::logic_error("a scheme needs contributions here that lie at their nodes");
    if (!slot.of.support)
        throw std::logic_error("a step uses a contribution to a task from before a re-encoding");
    return {*slot.of.support, slot.packed, slot.losses};
}

void MpiFleet::release(std::size_t handle)
{
    slots_.at(handle) = {};
    slots_.give_back(handle);
}

void MpiFleet::finish(bool finalize)
{
    std::vector<int> ranks = idle_;
    // One of them may have scored models until now, and answered no ping.
    for (const int rank : idle_) detector_.extend_grace(rank);
    ranks.insert(ranks.end(), standby_.begin(), standby_.end());
    for (const auto worker : living()) ranks.push_back(rank(worker));
    for (const int rank : ranks)
        send_aside(rank, mpi::Tag::stop, encode_values(pool_, std::int64_t{finalize}));
    backoff_.reset();
    while (!ranks.empty() || !incoming_.empty()) {
        find_dead();
        if (!progress()) sleep();
        for (const auto& message : arrived_)
            if (message.tag == mpi::Tag::farewell) std::erase(ranks, message.peer);
        arrived_.clear();
        std::erase_if(ranks, [this](int rank) { return has_died(rank); });
        // What a dead rank has begun to send may never come.
        drop_if(incoming_, [this](mpi::Transfer& message) {
            const bool dead = has_died(message.peer);
            if (dead) abandoned_.push_back(std::move(message));
            return dead;
        });
    }
    if (!finalize) return;
    const auto settle = [this](mpi::Transfer& one) {
        while (!done(one)) backoff_.wait();
    };
    for (auto& [when, piece] : pieces_) settle(piece);
    for (auto& one : aside_) settle(one);
    for (auto& link : links_)
        if (link.sending) settle(*link.sending);
}

}  // namespace quorate
