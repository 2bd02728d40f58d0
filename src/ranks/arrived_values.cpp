// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/arrived_values.hpp"

#include <span>
#include <stdexcept>
#include <utility>

namespace quorate {

namespace {

ContributionParts read_parts(MessageReader& in, int count)
{
    ContributionParts parts;
    for (int i = 0; i < count; ++i) parts.heads.push_back(in.get<PartHead>());
    for (const auto& head : parts.heads) {
        auto& versions = parts.versions.emplace_back();
        for (std::int64_t item = 0; item < head.versions; ++item)
            versions.push_back(in.get<Version>());
    }
    return parts;
}

}  // namespace

// Bytes of the values of parts on their way.
std::int64_t ArrivedValues::travelling(const ContributionParts& parts) const
{
    std::size_t bytes = 0;
    for (const auto& head : parts.heads) {
        const auto length = static_cast<std::size_t>(head.length);
        bytes += compressor_ ? compressor_->bytes(length) : length * bytes_of(wire_);
    }
    return static_cast<std::int64_t>(bytes);
}

// Reads the compressed values of parts, which follow next.
std::shared_ptr<const NumberVector> ArrivedValues::expanded(MessageReader& in,
                                                            const ContributionParts& parts,
                                                            std::size_t size) const
{
    const auto bytes = in.numbers<std::byte>(static_cast<std::size_t>(travelling(parts)));
    auto values = std::make_shared<NumberVector>(size, precision_);
    std::size_t at = 0, before = 0;
    for (const auto& head : parts.heads) {
        const auto length = static_cast<std::size_t>(head.length);
        compressor_->expand(bytes.data() + at, Numbers(*values).subspan(before, length));
        at += compressor_->bytes(length);
        before += length;
    }
    return values;
}

ArrivedMessage ArrivedValues::claim(transport::Message message)
{
    bytes_received_ += static_cast<std::int64_t>(message.bytes->size());
    ArrivedMessage one{std::move(message)};
    if (one.tag != transport::Tag::contribution) return one;
    MessageReader in(*one.bytes);
    const auto head = in.get<ContributionHead>();
    if (head.block == 0) return one;
    const auto values = static_cast<std::size_t>(head.values);
    if (memory_.reads(one.from)) {
        one.values = memory_.contribution(one.from, head.block, doubles_for(values, precision_));
        bytes_received_ += compressor_ ? travelling(read_parts(in, head.parts))
                                       : head.values * static_cast<std::int64_t>(bytes_of(wire_));
    } else if (const auto worker = membership_.worker_of(one.from); worker >= 0) {
        one.values = owner_of({worker, head.block}, released_);
    }
    return one;
}

std::vector<Arrival> ArrivedValues::unpack(const ArrivedMessage& message)
{
    const auto worker = membership_.worker_of(message.from);
    MessageReader in(*message.bytes);
    const auto [count, shard, block, total] = in.get<ContributionHead>();
    auto parts = read_parts(in, count);
    // A contribution for a shard before has no values: its task was closed when the worker was told
    // to load another one.
    const bool current = shard >= membership_.shard(worker);
    if (current)
        check_shard(shard, membership_.is_loading(worker) ? -1 : membership_.shard(worker));
    const bool kept = block != 0 && !message.values;  // at its node
    const auto bytes =
        static_cast<std::int64_t>(message.bytes->size()) + (message.values ? travelling(parts) : 0);
    const auto size = kept ? 0 : static_cast<std::size_t>(total);
    // That of a block at its node is null and owns it nevertheless.
    std::shared_ptr<const void> owner = message.bytes;
    if (block != 0) owner = message.values;
    Packed all;
    if (message.values) {
        all = packed(numbers_at(static_cast<const void*>(message.values.get()), size, precision_));
    } else if (compressor_) {
        const auto values = expanded(in, parts, size);
        owner = values;
        all = packed(*values);
    } else {
        all = with_number(wire_,
                          [&]<class Number>(Number) -> Packed { return in.numbers<Number>(size); });
    }
    std::size_t before = 0;  // values of earlier parts
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < parts.heads.size(); ++i) {
        const auto& part = parts.heads[i];
        const auto handle = contributions_.take();
        arrivals.push_back({part.info, std::move(parts.versions[i]), 0, 0, bytes / count, handle});
        if (!current) continue;
        const auto length = static_cast<std::size_t>(part.length);
        auto& one = contributions_.at(handle);
        one = {owner, {}, {}, membership_.loaded(worker), part.losses};
        if (kept) {
            one.block = block;
            one.first = static_cast<std::int64_t>(before);
            one.length = part.length;
        } else {
            one.packed = std::visit(
                [&](auto numbers) -> Packed { return numbers.subspan(before, length); }, all);
        }
        before += length;
    }
    return arrivals;
}

std::size_t ArrivedValues::adopt(Worker worker, const Values& values)
{
    const auto handle = contributions_.take();
    auto& one = contributions_.at(handle);
    auto of = membership_.loaded(worker);
    // The worker may have died before it had loaded what these values are of.
    if (!of.support || *of.support != values.support)
        of = {worker, membership_.shard(worker), std::make_shared<const Support>(values.support)};
    one = {nullptr, {}, values.doubles(), std::move(of), values.losses, 0, 0, 0};
    one.packed = std::span<const double>(one.adopted);
    return handle;
}

Values ArrivedValues::values(std::size_t handle) const
{
    const auto& one = contributions_.at(handle);
    if (one.block != 0)
        throw std::logic_error("a scheme needs contributions here that lie at their nodes");
    if (!one.of.support)
        throw std::logic_error("a step uses a contribution to a task from before a re-encoding");
    return {*one.of.support, one.packed, one.losses};
}

void ArrivedValues::release(std::size_t handle)
{
    contributions_.at(handle) = {};
    contributions_.give_back(handle);
}

EngineEvent::Came ArrivedValues::came(const Arrival& arrival) const
{
    const auto& one = contributions_.at(arrival.handle);
    return {arrival, one.losses, {arrival.worker, one.block}, one.first, one.length};
}

Leaders::Term ArrivedValues::term(const Weighted& of) const
{
    const auto& one = contributions_.at(of.handle);
    Leaders::Term term{of.worker, of.weight, one.of, one.block, one.first, one.length, {}};
    if (one.block == 0) {
        term.values = NumberVector(values(of.handle).doubles(), precision_);
        term.length = static_cast<std::int64_t>(term.values.size());
    }
    return term;
}

}  // namespace quorate
