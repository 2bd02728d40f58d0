// SPDX-License-Identifier: BSD-2-Clause
#include "run/memory_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ranks/messages.hpp"

namespace quorate {

namespace {

// Pieces have left two rounds before the next part is due, so that it need not wait for them.
constexpr std::int64_t slack = 2;

// What a part says before its vectors.
struct StateHead {
    StatePiece piece;
    std::int64_t event;
    std::int64_t first, count;  // the parameters of the share; count -1: all
};

void put(MessageWriter& out, const StateVector& vector)
{
    out.put(static_cast<std::int64_t>(vector.sliced));
    out.put(static_cast<std::int64_t>(vector.numbers->precision()));
    out.put(static_cast<std::int64_t>(vector.numbers->size()));
    ConstNumbers(*vector.numbers).visit([&]<class T>(std::span<const T> numbers) {
        out.numbers<T>(numbers.size(), [&](T* at) { std::ranges::copy(numbers, at); });
    });
}

// The share's slices of a state, and of share 0 also what is not a vector.
std::shared_ptr<transport::Bytes> make_part(const StatePart& part, const Snapshot& snapshot,
                                            const Optimizers& optimizers,
                                            const std::optional<ShareRange>& share,
                                            transport::Pool& pool)
{
    StateHead head{{part, 0, 0, 0},
                   snapshot.event,
                   share ? static_cast<std::int64_t>(share->first) : 0,
                   share ? static_cast<std::int64_t>(share->second) : -1};
    const auto vectors = vectors_of(snapshot, optimizers);
    auto message = make_message(pool, [&](MessageWriter& out) {
        out.put(head);
        std::vector<Version> versions;
        for (const auto& [version, point] : snapshot.points) versions.push_back(version);
        out.put_list(versions);
        out.put(std::ssize(optimizers));
        for (const auto& optimizer : optimizers) {
            out.put(optimizer->updates());
            out.put_list(optimizer->state());
            out.put(std::ssize(optimizer->memory()));
        }
        if (part.share == 0) {
            out.put(std::ssize(snapshot.position));
            for (const auto& [name, rows] : snapshot.position) {
                out.put_list(name);
                out.put(rows);
            }
            out.put_list(snapshot.arrivals);
            out.put_list(snapshot.items);
        }
        for (const auto& vector : vectors) put(out, vector);
    });
    head.piece.whole = head.piece.bytes =
        static_cast<std::int64_t>(message->size() - state_piece_head);
    std::memcpy(message->data(), &head, sizeof(head));
    return message;
}

// A vector of a part, where it lies in it.
struct StateSlice {
    bool sliced;
    ConstNumbers numbers;
};

// What a part has. Its vectors are views of it.
struct StateSlices {
    StateHead head;
    std::vector<Version> versions;
    std::vector<Checkpoint::Memory> optimizers;
    std::vector<std::size_t> memories;  // of each optimiser, how many vectors
    Snapshot snapshot;
    std::vector<StateSlice> vectors;
};

StateSlices read_part(const transport::Bytes& bytes)
{
    MessageReader in(bytes);
    StateSlices part;
    part.head = in.get<StateHead>();
    part.versions = in.get_list<std::vector<Version>>();
    part.optimizers.resize(in.get_length(sizeof(std::int64_t)));
    for (auto& memory : part.optimizers) {
        memory.updates = in.get<std::int64_t>();
        memory.state = in.get_list<std::string>();
        part.memories.push_back(in.get_length(sizeof(std::int64_t)));
    }
    auto& snapshot = part.snapshot;
    snapshot.event = part.head.event;
    snapshot.round = part.head.piece.part.round;
    if (part.head.piece.part.share == 0) {
        const auto count = in.get_length(sizeof(std::int64_t));
        for (std::size_t i = 0; i < count; ++i) {
            const auto name = in.get_list<std::string>();
            snapshot.position[name] = in.get<std::int64_t>();
        }
        snapshot.arrivals = in.get_list<std::vector<trace::Arrival>>();
        snapshot.items = in.get_list<std::vector<trace::ItemRow>>();
    }
    auto vectors = part.versions.size() + 1;
    for (const auto count : part.memories) vectors += count;
    for (std::size_t i = 0; i < vectors; ++i) {
        const bool sliced = in.get<std::int64_t>() != 0;
        const auto precision = static_cast<Precision>(in.get<std::int64_t>());
        const auto size = in.get_length(bytes_of(precision));
        part.vectors.push_back({sliced, with_number(precision, [&]<class T>(T) -> ConstNumbers {
                                    return in.numbers<T>(size);
                                })});
    }
    return part;
}

void copy_as_doubles(ConstNumbers from, std::span<double> to)
{
    from.visit([&](auto numbers) { std::ranges::copy(numbers, to.begin()); });
}

}  // namespace

std::optional<std::int64_t> memory_interval_of(const Settings& settings)
{
    if (!settings.on("memory-checkpoint-every")) return std::nullopt;
    if (!settings.on("resilient") || !(settings.on("checkpoint") || settings.on("folder")))
        settings.refuse("memory-checkpoint-every",
                        ", which keeps states for a run that goes on without some of its ranks: "
                        "add --resilient and --checkpoint FILE, or leave it out");
    const auto text = settings.text("memory-checkpoint-every");
    const auto rounds =
        text.ends_with('r') ? to_integer(text.substr(0, text.size() - 1)).value_or(0) : 0;
    if (rounds <= slack)
        settings.refuse("memory-checkpoint-every",
                        fmt::format(": write 20r for rounds, at least {}r", slack + 1));
    return rounds;
}

StateParts::StateParts(std::int64_t every, const Optimizers& optimizers,
                       const std::optional<ShareRange>& share, StateKeepers keepers)
    : every_(every), optimizers_(optimizers), share_(share), keepers_(std::move(keepers))
{
}

void StateParts::make(const Snapshot& snapshot)
{
    const auto part = make_part({snapshot.round, keepers_.share, keepers_.shares}, snapshot,
                                optimizers_, share_, pool_);
    keepers_.own(part);
    pieces_ = StatePieces(part, every_ - slack);
}

void StateParts::send_piece()
{
    if (pieces_.has_more()) keepers_.next(pieces_.next(pool_));
}

void MemoryCheckpoints::stands(const Snapshot& snapshot)
{
    const bool is_whole = lead_.is_whole();
    if (is_whole && (!begun_ || snapshot.round - *begun_ >= every_)) {
        has_before_ = begun_.has_value();
        begun_ = snapshot.round;
        lead_.begin(snapshot);
        parts_.make(snapshot);
    }
    parts_.send_piece();
}

Checkpoint join_parts(std::vector<std::shared_ptr<transport::Bytes>> messages)
{
    std::vector<StateSlices> parts;
    for (const auto& message : messages) parts.push_back(read_part(*message));
    std::size_t parameters = 0;
    for (const auto& part : parts) {
        const bool follows =
            part.head.count < 0 || part.head.first == static_cast<std::int64_t>(parameters);
        if (!follows || part.head.event != parts[0].head.event ||
            part.versions != parts[0].versions || part.vectors.size() != parts[0].vectors.size())
            throw Failure("the parts of a state do not fit together: report this as a bug");
        parameters += static_cast<std::size_t>(part.head.count);
    }
    const auto& first = parts[0];
    // Of the vector with this number.
    const auto stored = [&](std::size_t number) -> StoredVector {
        const auto& [sliced, numbers] = first.vectors[number];
        std::vector<ConstNumbers> slices = {numbers};
        std::size_t size = numbers.size();
        for (std::size_t i = 1; sliced && i < parts.size(); ++i) {
            slices.push_back(parts[i].vectors[number].numbers);
            size += slices.back().size();
        }
        return {size, [messages, slices](std::size_t begin, std::size_t count) {
                    std::vector<double> some(count);
                    std::size_t at = 0;
                    for (const auto& slice : slices) {
                        const auto from = std::max(begin, at);
                        const auto to = std::min(begin + count, at + slice.size());
                        if (from < to)
                            copy_as_doubles(slice.subspan(from - at, to - from),
                                            std::span(some).subspan(from - begin));
                        at += slice.size();
                    }
                    return some;
                }};
    };
    Checkpoint joined;
    joined.path = "the memory of ranks";
    joined.snapshot = first.snapshot;
    std::size_t number = 0;
    for (const auto version : first.versions) joined.points[version] = stored(number++);
    const auto last = stored(number++);
    joined.snapshot.last_estimate = last.read(0, last.size);
    for (std::size_t model = 0; model < first.optimizers.size(); ++model) {
        auto& memory = joined.optimizers.emplace_back(first.optimizers[model]);
        for (std::size_t i = 0; i < first.memories[model]; ++i)
            memory.vectors.push_back(stored(number++));
    }
    return joined;
}

}  // namespace quorate
