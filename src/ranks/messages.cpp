// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace quorate {

std::byte* MessageWriter::place(std::size_t size)
{
    const auto here = std::exchange(at_, at_ + size);
    if (!bytes_) return nullptr;
    if (at_ > bytes_->size()) throw Failure("a message was made too short: report this as a bug");
    return bytes_->data() + here;
}

namespace {

[[noreturn]] void refuse_end()
{
    throw Failure("a message ended too early: do all ranks run the same program?");
}

}  // namespace

const std::byte* MessageReader::place(std::size_t size, std::size_t count)
{
    if (at_ > bytes_.size() || count > (bytes_.size() - at_) / size) refuse_end();
    return bytes_.data() + std::exchange(at_, at_ + size * count);
}

std::size_t MessageReader::get_length(std::size_t size)
{
    const auto count = get<std::int64_t>();
    if (count < 0 || static_cast<std::size_t>(count) > (bytes_.size() - at_) / size) refuse_end();
    return static_cast<std::size_t>(count);
}

void MessageWriter::put_support(const Support& support)
{
    put(static_cast<std::int64_t>(support.full()));
    put_list(support.chosen());
}

Support MessageReader::get_support(std::int64_t columns)
{
    const bool full = get<std::int64_t>() != 0;
    auto chosen = get_list<std::vector<Index>>();
    return full ? Support::all(columns) : Support::of(columns, std::move(chosen));
}

namespace {

struct TaskHead {
    TaskControl control;
    std::int32_t recipients, inputs, parts, each_when_ready, operands;
    ShardNumber shard;
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

}  // namespace

std::shared_ptr<transport::Bytes> encode(const TaskMessage& message, std::span<const Point> points,
                                         const Support& support, Wire wire, transport::Pool& pool)
{
    const auto operands = points.subspan(message.inputs.size());
    const auto number = [](std::size_t count) { return static_cast<std::int32_t>(count); };
    return make_message(pool, [&](MessageWriter& out) {
        out.put(TaskHead{message.control, number(message.recipients.size()),
                         number(message.inputs.size()), number(message.plan.parts.size()),
                         message.plan.each_when_ready, number(operands.size()), message.shard});
        for (const auto& recipient : message.recipients) out.put(recipient);
        for (const auto& input : message.inputs)
            out.put(InputHead{input.version, input.travel, input.block});
        for (const auto& part : message.plan.parts) {
            out.put(std::int64_t{part.held});
            out.put_list(part.items);
            out.put_list(part.fold);
        }
        for (const auto& operand : operands) out.put(static_cast<std::int64_t>(operand->size()));
        with_number(wire, [&]<class Number>(Number) {
            for (std::size_t i = 0; i < message.inputs.size(); ++i)
                if (is_packed(message.inputs[i]))
                    out.numbers<Number>(support.size(),
                                        [&](Number* to) { support.gather(*points[i], to); });
            for (const auto& operand : operands)
                out.numbers<Number>(operand->size(), [&](Number* to) {
                    ConstNumbers(*operand).visit([&](auto from) { convert(from, to); });
                });
        });
        out.align();
    });
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
                        std::size_t support_size, Wire wire, Precision precision,
                        transport::Pool& pool)
{
    MessageReader in(*bytes);
    TaskMessage message;
    const auto head = in.get<TaskHead>();
    check_shard(head.shard, shard);
    message.shard = shard;
    message.control = head.control;
    message.plan.each_when_ready = head.each_when_ready != 0;
    for (int i = 0; i < head.recipients; ++i)
        message.recipients.push_back(in.get<TaskMessage::Recipient>());
    for (int i = 0; i < head.inputs; ++i) {
        const auto input = in.get<InputHead>();
        message.inputs.push_back({input.version, input.travel, input.block});
    }
    for (int i = 0; i < head.parts; ++i) {
        Part part;
        part.held = in.get<std::int64_t>() != 0;
        part.items = in.get_list<decltype(part.items)>();
        part.fold = in.get_list<decltype(part.fold)>();
        message.plan.parts.push_back(std::move(part));
    }
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < head.operands; ++i) lengths.push_back(in.get<std::int64_t>());
    std::shared_ptr<transport::Bytes> copy;
    std::size_t copied = 0;  // numbers
    if (!as_in_memory(wire, precision)) {
        const auto packed = std::ranges::count_if(message.inputs, is_packed);
        const auto all = std::accumulate(lengths.begin(), lengths.end(),
                                         packed * static_cast<std::int64_t>(support_size));
        copy = pool.take(static_cast<std::size_t>(all) * bytes_of(precision));
    }
    const auto next = [&](std::size_t count) {
        return with_number(precision, [&]<class T>(T) -> ConstNumbers {
            if (!copy) return in.numbers<T>(count);
            auto* to = reinterpret_cast<T*>(copy->data()) + std::exchange(copied, copied + count);
            with_number(wire,
                        [&]<class Number>(Number) { convert(in.numbers<Number>(count), to); });
            return std::span<const T>(to, count);
        });
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
    return make_message(pool, [&](MessageWriter& out) {
        out.put(ready.shard);
        out.put(ready.info.rows);
        out.put(static_cast<std::int64_t>(ready.info.shared));
        out.put_list(ready.info.host);
        out.put_support(ready.support);
    });
}

Ready decode_ready(const transport::Bytes& bytes, std::int64_t columns)
{
    MessageReader in(bytes);
    const auto shard = in.get<ShardNumber>();
    WorkerInfo info{};
    info.rows = in.get<std::int64_t>();
    info.shared = in.get<std::int64_t>() != 0;
    info.host = in.get_list<std::string>();
    auto support = in.get_support(columns);
    info.columns = static_cast<std::int64_t>(support.size());
    return {shard, std::move(info), std::move(support)};
}

}  // namespace quorate
