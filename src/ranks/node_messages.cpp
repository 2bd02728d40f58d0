// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/node_messages.hpp"

#include <algorithm>

namespace quorate {

std::shared_ptr<transport::Bytes> encode_peers(std::span<const Peer> peers, transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) { out.put_list(peers); });
}

std::vector<Peer> decode_peers(const transport::Bytes& bytes)
{
    return MessageReader(bytes).get_list<std::vector<Peer>>();
}

std::shared_ptr<transport::Bytes> encode_lead(std::int64_t number, std::span<const Touched> workers,
                                              transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) {
        out.put(number);
        out.put(static_cast<std::int64_t>(workers.size()));
        for (const auto& [worker, shard, support] : workers) {
            out.put(worker);
            out.put(shard);
            out.put_support(*support);
        }
    });
}

std::pair<std::int64_t, std::vector<Touched>> decode_lead(const transport::Bytes& bytes,
                                                          std::int64_t parameters)
{
    MessageReader in(bytes);
    const auto number = in.get<std::int64_t>();
    std::vector<Touched> workers(in.get_length(sizeof(Worker) + sizeof(ShardNumber)));
    for (auto& [worker, shard, support] : workers) {
        worker = in.get<Worker>();
        shard = in.get<ShardNumber>();
        support = std::make_shared<const Support>(in.get_support(parameters));
    }
    return {number, std::move(workers)};
}

std::shared_ptr<const Support> union_of(std::span<const Touched> workers, std::int64_t parameters)
{
    if (workers.size() == 1) return workers[0].support;
    std::vector<const Support*> all;
    for (const auto& one : workers) all.push_back(one.support.get());
    return std::make_shared<const Support>(union_of(all, parameters));
}

std::shared_ptr<transport::Bytes> encode_piece(const PieceHead& head, std::size_t count,
                                               const Support& touched, ConstNumbers point,
                                               Wire wire, transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) {
        out.put(head);
        with_number(wire, [&]<class Number>(Number) {
            out.numbers<Number>(count, [&](Number* to) {
                touched.gather(point, static_cast<std::size_t>(head.first), count, to);
            });
        });
    });
}

void decode_piece(const transport::Bytes& bytes, const Support& touched, Wire wire, Numbers whole)
{
    MessageReader in(bytes);
    const auto head = in.get<PieceHead>();
    const auto count = (bytes.size() - sizeof head) / bytes_of(wire);
    with_number(wire, [&]<class Number>(Number) {
        touched.scatter(in.numbers<Number>(count), static_cast<std::size_t>(head.first), whole);
    });
}

std::shared_ptr<transport::Bytes> encode(const NodePoint& message, transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) {
        out.put(message.version);
        out.put_list(message.to);
        out.put_list(message.keep);
    });
}

NodePoint decode_node_point(const transport::Bytes& bytes)
{
    MessageReader in(bytes);
    NodePoint message{};
    message.version = in.get<Version>();
    message.to = in.get_list<std::vector<Delivery>>();
    message.keep = in.get_list<std::vector<Version>>();
    return message;
}

std::shared_ptr<const double> owner_of(const KeptBlock& block, std::vector<KeptBlock>& released)
{
    return {static_cast<const double*>(nullptr),
            [block, &released](const double*) { released.push_back(block); }};
}

std::shared_ptr<transport::Bytes> encode_release(std::span<const KeptBlock> blocks,
                                                 transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) { out.put_list(blocks); });
}

std::vector<KeptBlock> decode_release(const transport::Bytes& bytes)
{
    return MessageReader(bytes).get_list<std::vector<KeptBlock>>();
}

std::shared_ptr<transport::Bytes> encode(const SumOrder& order, transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) {
        out.put(order.number);
        out.put_list(order.terms);
        for (const auto& values : order.values)
            values.visit([&]<class T>(std::span<const T> all) {
                out.numbers<T>(all.size(), [&](T* to) { std::ranges::copy(all, to); });
            });
    });
}

SumOrder decode_sum_order(const transport::Bytes& bytes, Precision precision)
{
    MessageReader in(bytes);
    SumOrder order{};
    order.number = in.get<std::int64_t>();
    order.terms = in.get_list<std::vector<SumTerm>>();
    for (const auto& term : order.terms)
        if (term.block == 0)
            order.values.push_back(with_number(precision, [&]<class T>(T) -> ConstNumbers {
                return in.numbers<T>(static_cast<std::size_t>(term.length));
            }));
    return order;
}

}  // namespace quorate
