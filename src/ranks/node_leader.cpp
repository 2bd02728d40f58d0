// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/node_leader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "compute/addend.hpp"

namespace quorate {

bool NodeLeader::meet(const transport::Bytes& peers)
{
    bool all = true;
    for (const auto& [worker, rank, address] : decode_peers(peers)) {
        auto& memory = peers_[worker] = BorrowedBlocks(address, 1, 0);
        if (rank != endpoint_.rank()) endpoint_.expect(static_cast<int>(rank));
        processes_[rank] = static_cast<pid_t>(address.process);
        all &= memory.present();
    }
    return all;
}

void NodeLeader::lead(const transport::Bytes& message)
{
    const auto [number, workers] = decode_lead(message, static_cast<std::int64_t>(parameters_));
    told_ = number;
    supports_.clear();
    for (const auto& one : workers) supports_[one.worker] = one;
    touched_ = *union_of(workers, static_cast<std::int64_t>(parameters_));
    if (sum_.empty()) sum_ = NumberVector(parameters_, precision_);
    // Points that it has may lack columns of the new supports.
    for (const auto& [version, values] : std::exchange(kept_, {})) points_.give_back(values);
    if (points_.present()) return;
    points_ = {"quorate-node-points", readers(), [this](int rank) {
                   const auto known = processes_.find(rank);
                   return known == processes_.end() ||
                          (kill(known->second, 0) != 0 && errno == ESRCH);
               }};
    // Two, because workers may still read one when the next comes.
    const double* blocks[] = {room_for_point(), room_for_point()};
    for (const auto* block : blocks) points_.give_back(block);
}

double* NodeLeader::room_for_point()
{
    auto* values = points_.take(doubles_for(parameters_, precision_));
    if (!values)
        throw Failure(
            fmt::format("there are no {} bytes of memory left for a point of the "
                        "workers of this node: ask for more memory, start fewer ranks "
                        "on it, or use --aggregate flat",
                        parameters_ * bytes_of(precision_)));
    return values;
}

void NodeLeader::take_piece(const transport::Bytes& message)
{
    const auto head = MessageReader(message).get<PieceHead>();
    if (head.lead != told_)
        throw Failure("a piece of a point was made for other supports: report this as a bug");
    if (!arriving_) arriving_ = room_for_point();
    version_ = head.version;
    decode_piece(message, touched_, wire_, numbers_at(arriving_, parameters_, precision_));
}

void NodeLeader::hand_out(const transport::Bytes& message)
{
    const auto point = decode_node_point(message);
    std::erase_if(kept_, [&](const auto& one) {
        const bool drop = std::ranges::find(point.keep, one.first) == point.keep.end();
        if (drop) points_.give_back(one.second);
        return drop;
    });
    if (arriving_ && version_ == point.version) {
        if (const auto old = kept_.find(point.version); old != kept_.end())
            points_.give_back(old->second);
        kept_[point.version] = std::exchange(arriving_, nullptr);
    }
    const auto* values = kept_.at(point.version);
    for (const auto& [rank, shard, task] : point.to) {
        const Delivered told{points_.address(), points_.lend(values, rank), point.version, task,
                             shard};
        endpoint_.send(rank, transport::Tag::delivery, encode_values(endpoint_.pool(), told));
    }
    endpoint_.ring();
}

void NodeLeader::release(const transport::Bytes& message)
{
    for (const auto& [worker, block] : decode_release(message)) {
        if (borrowed_.erase({worker, block}) > 0) continue;
        // Nobody has read it: borrowing it gives it back.
        if (const auto peer = peers_.find(worker); peer != peers_.end())
            peer->second.borrow(block, 0);
    }
}

ConstNumbers NodeLeader::contribution(const SumTerm& term)
{
    const auto first = static_cast<std::size_t>(term.first),
               length = static_cast<std::size_t>(term.length);
    auto& one = borrowed_[{term.worker, term.block}];
    if (!one)
        one = peers_.at(term.worker).borrow(term.block, doubles_for(first + length, precision_));
    return numbers_at(static_cast<const void*>(one.get()), first + length, precision_)
        .subspan(first, length);
}

std::shared_ptr<transport::Bytes> NodeLeader::add_up(const transport::Bytes& message)
{
    const auto order = decode_sum_order(message, precision_);
    std::vector<Touched> used;
    for (const auto& term : order.terms) {
        const auto& touched = supports_.at(term.worker);
        check_shard(term.shard, touched.shard);
        if (used.empty() || used.back().worker != term.worker) used.push_back(touched);
    }
    std::vector<Addend> addends;
    auto values = order.values.begin();
    try {
        for (const auto& term : order.terms)
            addends.push_back({*supports_.at(term.worker).support,
                               packed(term.block == 0 ? *values++ : contribution(term)),
                               term.weight});
    } catch (const Failure&) {  // the memory of a worker that has died is gone
        return encode_values(endpoint_.pool(), SumAnswer{order.number, false});
    }
    const auto touched = union_of(used, static_cast<std::int64_t>(parameters_));
    touched->clear(sum_);
    ranges_in_parallel(parameters_, range_of_sums, 1, [&](std::size_t first, std::size_t last) {
        add(addends, Numbers(sum_).subspan(first, last - first), first);
    });
    return make_message(endpoint_.pool(), [&](MessageWriter& out) {
        out.put(SumAnswer{order.number, true});
        with_number(wire_, [&]<class Number>(Number) {
            out.numbers<Number>(touched->size(), [&](Number* to) { touched->gather(sum_, to); });
        });
    });
}

}  // namespace quorate
