// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/node_messages.hpp"

#include <algorithm>

namespace quorate {

namespace {

// A list of plain values: how many, and then these.
template <class Value>
void put_list(Writer& out, std::span<const Value> values)
{
    out.put(static_cast<std::int64_t>(values.size()));
    for (const auto& value : values) out.put(value);
}

template <class Value>
std::vector<Value> get_list(Reader& in)
{
    std::vector<Value> values(static_cast<std::size_t>(in.get<std::int64_t>()));
    for (auto& value : values) value = in.get<Value>();
    return values;
}

template <class List>
std::size_t size_of_list(const List& values)
{
    return sizeof(std::int64_t) + values.size() * sizeof(values[0]);
}

template <class Value>
std::shared_ptr<transport::Bytes> encode_list(std::span<const Value> values, transport::Pool& pool)
{
    auto bytes = pool.take(sizeof(std::int64_t) + values.size_bytes());
    Writer out(*bytes);
    put_list(out, values);
    return bytes;
}

}  // namespace

std::shared_ptr<transport::Bytes> encode_peers(std::span<const Peer> peers, transport::Pool& pool)
{
    return encode_list(peers, pool);
}

std::vector<Peer> decode_peers(const transport::Bytes& bytes)
{
    Reader in(bytes);
    return get_list<Peer>(in);
}

std::shared_ptr<transport::Bytes> encode_lead(std::int64_t number, std::span<const Touched> workers,
                                              transport::Pool& pool)
{
    std::size_t size = 2 * sizeof(std::int64_t);
    for (const auto& one : workers)
        size += sizeof one.worker + sizeof one.shard + 2 * sizeof(std::int64_t) +
                one.support->chosen().size_bytes();
    auto bytes = pool.take(size);
    Writer out(*bytes);
    out.put(number);
    out.put(static_cast<std::int64_t>(workers.size()));
    for (const auto& [worker, shard, support] : workers) {
        out.put(worker);
        out.put(shard);
        out.put(static_cast<std::int64_t>(support->full()));
        put_list(out, support->chosen());
    }
    return bytes;
}

std::pair<std::int64_t, std::vector<Touched>> decode_lead(const transport::Bytes& bytes,
                                                          std::int64_t parameters)
{
    Reader in(bytes);
    const auto number = in.get<std::int64_t>();
    std::vector<Touched> workers;
    for (auto count = in.get<std::int64_t>(); count > 0; --count) {
        const auto worker = in.get<Worker>();
        const auto shard = in.get<ShardNumber>();
        const bool full = in.get<std::int64_t>() != 0;
        auto chosen = get_list<Index>(in);
        auto support = full ? Support::all(parameters) : Support::of(parameters, std::move(chosen));
        workers.push_back({worker, shard, std::make_shared<const Support>(std::move(support))});
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
                                               const Support& touched,
                                               std::span<const double> point, Wire wire,
                                               transport::Pool& pool)
{
    auto bytes = pool.take(sizeof head + count * bytes_of(wire));
    Writer out(*bytes);
    out.put(head);
    with_number(wire, [&]<class Number>(Number) {
        touched.gather(point, static_cast<std::size_t>(head.first), count,
                       out.numbers<Number>(count));
    });
    return bytes;
}

void decode_piece(const transport::Bytes& bytes, const Support& touched, Wire wire,
                  std::span<double> whole)
{
    Reader in(bytes);
    const auto head = in.get<PieceHead>();
    const auto count = (bytes.size() - sizeof head) / bytes_of(wire);
    with_number(wire, [&]<class Number>(Number) {
        touched.scatter(in.numbers<Number>(count), static_cast<std::size_t>(head.first), whole);
    });
}

std::shared_ptr<transport::Bytes> encode(const NodePoint& message, transport::Pool& pool)
{
    auto bytes =
        pool.take(sizeof message.version + size_of_list(message.to) + size_of_list(message.keep));
    Writer out(*bytes);
    out.put(message.version);
    put_list(out, std::span<const Delivery>(message.to));
    put_list(out, std::span<const Version>(message.keep));
    return bytes;
}

NodePoint decode_node_point(const transport::Bytes& bytes)
{
    Reader in(bytes);
    NodePoint message{};
    message.version = in.get<Version>();
    message.to = get_list<Delivery>(in);
    message.keep = get_list<Version>(in);
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
    return encode_list(blocks, pool);
}

std::vector<KeptBlock> decode_release(const transport::Bytes& bytes)
{
    Reader in(bytes);
    return get_list<KeptBlock>(in);
}

std::shared_ptr<transport::Bytes> encode(const SumOrder& order, transport::Pool& pool)
{
    std::size_t numbers = 0;
    for (const auto& values : order.values) numbers += values.size();
    auto bytes = pool.take(Writer::aligned(sizeof order.number + size_of_list(order.terms)) +
                           numbers * sizeof(double));
    Writer out(*bytes);
    out.put(order.number);
    put_list(out, std::span<const SumTerm>(order.terms));
    for (const auto& values : order.values) std::ranges::copy(values, out.doubles(values.size()));
    return bytes;
}

SumOrder decode_sum_order(const transport::Bytes& bytes)
{
    Reader in(bytes);
    SumOrder order{};
    order.number = in.get<std::int64_t>();
    order.terms = get_list<SumTerm>(in);
    for (const auto& term : order.terms)
        if (term.block == 0)
            order.values.push_back(in.doubles(static_cast<std::size_t>(term.length)));
    return order;
}

}  // namespace quorate
