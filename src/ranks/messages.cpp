// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace quorate {

std::byte* Writer::place(std::size_t size)
{
    if (at_ + size > bytes_.size())
        throw Failure("a message was made too short: report this as a bug");
    auto* here = bytes_.data() + at_;
    at_ += size;
    return here;
}

const std::byte* Reader::place(std::size_t size)
{
    if (at_ + size > bytes_.size())
        throw Failure("a message ended too early: do all ranks run the same program?");
    const auto* here = bytes_.data() + at_;
    at_ += size;
    return here;
}

namespace {

struct TaskHead {
    TaskControl control;
    std::int32_t recipients, inputs, parts, each_when_ready, operands;
    ShardNumber shard;
};
struct Recipient {
    std::int64_t worker;
    TaskId task;
};
struct InputHead {
    Version version;
    TaskMessage::Travel travel;
    std::int64_t block;
};

bool is_packed(const TaskMessage::Input& input)
{
    return input.travel == TaskMessage::Travel::packed;
}

// Bytes of so many numbers, with the padding before the next ones.
std::size_t size_of(Wire wire, std::size_t numbers)
{
    return Writer::aligned(numbers * bytes_of(wire));
}

std::size_t encoded_size(const TaskMessage& message, std::span<const Point> operands,
                         const Support& support, Wire wire)
{
    std::size_t size = sizeof(TaskHead) + message.recipients.size() * sizeof(Recipient);
    for (const auto& part : message.plan.parts)  // whether held, numbers, items and coefficients
        size += 3 * sizeof(std::int64_t) + part.items.size() * sizeof(Item) +
                part.fold.size() * sizeof(double);
    for (const auto& input : message.inputs)
        size += sizeof(InputHead) + (is_packed(input) ? size_of(wire, support.size()) : 0);
    for (const auto& operand : operands)
        size += sizeof(std::int64_t) + size_of(wire, operand->size());
    return Writer::aligned(size);
}

}  // namespace

std::shared_ptr<transport::Bytes> encode(const TaskMessage& message, std::span<const Point> points,
                                         const Support& support, Wire wire, transport::Pool& pool)
{
    const auto operands = points.subspan(message.inputs.size());
    auto bytes = pool.take(encoded_size(message, operands, support, wire));
    Writer out(*bytes);
    const auto number = [](std::size_t count) { return static_cast<std::int32_t>(count); };
    out.put(TaskHead{message.control, number(message.recipients.size()),
                     number(message.inputs.size()), number(message.plan.parts.size()),
                     message.plan.each_when_ready, number(operands.size()), message.shard});
    for (const auto& [worker, task] : message.recipients) out.put(Recipient{worker, task});
    for (const auto& input : message.inputs)
        out.put(InputHead{input.version, input.travel, input.block});
    for (const auto& part : message.plan.parts) {
        out.put(std::int64_t{part.held});
        out.put(static_cast<std::int64_t>(part.items.size()));
        for (const auto& item : part.items) out.put(item);
        out.put(static_cast<std::int64_t>(part.fold.size()));
        for (const double coefficient : part.fold) out.put(coefficient);
    }
    for (const auto& operand : operands) out.put(static_cast<std::int64_t>(operand->size()));
    with_number(wire, [&]<class Number>(Number) {
        for (std::size_t i = 0; i < message.inputs.size(); ++i)
            if (is_packed(message.inputs[i]))
                support.gather(*points[i], out.numbers<Number>(support.size()));
        for (const auto& operand : operands)
            convert(std::span<const double>(*operand), out.numbers<Number>(operand->size()));
    });
    return bytes;
}

void check_shard(ShardNumber made_for, ShardNumber here)
{
    if (made_for != here)
        throw Failure(
            fmt::format("a message was made for shard {} of its worker and not for shard {}: "
                        "report this as a bug",
                        made_for, here));
}

TaskMessage decode_task(std::shared_ptr<const transport::Bytes> bytes, ShardNumber shard,
                        std::size_t support_size, Wire wire, transport::Pool& pool)
{
    Reader in(*bytes);
    TaskMessage message;
    const auto head = in.get<TaskHead>();
    check_shard(head.shard, shard);
    message.shard = shard;
    message.control = head.control;
    message.plan.each_when_ready = head.each_when_ready != 0;
    for (int i = 0; i < head.recipients; ++i) {
        const auto recipient = in.get<Recipient>();
        message.recipients.emplace_back(static_cast<Worker>(recipient.worker), recipient.task);
    }
    for (int i = 0; i < head.inputs; ++i) {
        const auto input = in.get<InputHead>();
        message.inputs.push_back({input.version, input.travel, input.block});
    }
    for (int i = 0; i < head.parts; ++i) {
        Part part;
        part.held = in.get<std::int64_t>() != 0;
        for (auto items = in.get<std::int64_t>(); items > 0; --items)
            part.items.push_back(in.get<Item>());
        for (auto folds = in.get<std::int64_t>(); folds > 0; --folds)
            part.fold.push_back(in.get<double>());
        message.plan.parts.push_back(std::move(part));
    }
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < head.operands; ++i) lengths.push_back(in.get<std::int64_t>());
    std::shared_ptr<transport::Bytes> copy;
    std::size_t copied = 0;  // numbers
    if (wire != Wire::binary64) {
        const auto packed = std::ranges::count_if(message.inputs, is_packed);
        const auto all = std::accumulate(lengths.begin(), lengths.end(),
                                         packed * static_cast<std::int64_t>(support_size));
        copy = pool.take(static_cast<std::size_t>(all) * sizeof(double));
    }
    const auto next = [&](std::size_t count) -> std::span<const double> {
        if (!copy) return in.doubles(count);
        auto* to = reinterpret_cast<double*>(copy->data()) + std::exchange(copied, copied + count);
        with_number(wire, [&]<class Number>(Number) { convert(in.numbers<Number>(count), to); });
        return {to, count};
    };
    for (auto& input : message.inputs)
        if (is_packed(input)) input.packed = next(support_size);
    for (const auto length : lengths)
        message.operands.push_back(next(static_cast<std::size_t>(length)));
    if (copy)
        message.owner = std::move(copy);
    else
        message.owner = std::move(bytes);
    return message;
}

std::shared_ptr<transport::Bytes> encode(const Ready& ready, transport::Pool& pool)
{
    const auto& [shard, info, support] = ready;
    const auto chosen = support.chosen();
    auto bytes =
        pool.take(sizeof shard + 5 * sizeof(std::int64_t) + info.host.size() + chosen.size_bytes());
    Writer out(*bytes);
    out.put(shard);
    out.put(info.rows);
    out.put(static_cast<std::int64_t>(info.shared));
    out.put(static_cast<std::int64_t>(support.full()));
    out.put(static_cast<std::int64_t>(chosen.size()));
    out.put(static_cast<std::int64_t>(info.host.size()));
    for (const auto column : chosen) out.put(column);
    for (const char letter : info.host) out.put(letter);
    return bytes;
}

Ready decode_ready(const transport::Bytes& bytes, std::int64_t columns)
{
    Reader in(bytes);
    const auto shard = in.get<ShardNumber>();
    WorkerInfo info{};
    info.rows = in.get<std::int64_t>();
    info.shared = in.get<std::int64_t>() != 0;
    const bool full = in.get<std::int64_t>() != 0;
    std::vector<Index> chosen(static_cast<std::size_t>(in.get<std::int64_t>()));
    info.host.resize(static_cast<std::size_t>(in.get<std::int64_t>()));
    for (auto& column : chosen) column = in.get<Index>();
    for (auto& letter : info.host) letter = in.get<char>();
    auto support = full ? Support::all(columns) : Support::of(columns, std::move(chosen));
    info.columns = static_cast<std::int64_t>(support.size());
    return {shard, std::move(info), std::move(support)};
}

}  // namespace quorate
