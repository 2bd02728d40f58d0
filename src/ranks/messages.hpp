// SPDX-License-Identifier: BSD-2-Clause
// Encodes and decodes messages. A message is a header and a payload of numbers in one buffer:
// points and contributions as --wire says (base/wire.hpp), all else doubles. Values are sent as
// they stand in memory, so all ranks must run on machines of one architecture and run the same
// program. Everything here is local.
#pragma once

#include <cstring>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/wire.hpp"
#include "data/support.hpp"
#include "fleet/fleet.hpp"
#include "scheme/types.hpp"
#include "transport/bytes.hpp"

namespace quorate {

/// How the ranks of a run end it: `stop` says so.
enum class Ending : std::int64_t {
    apart,     // each by itself, because MPI_Finalize would wait for those that are dead
    together,  // in MPI_Finalize
    regroup    // not yet: those that are left go back to the newest checkpoint
};

/// Writes values into a message one after the other, or only counts their bytes.
class MessageWriter {
public:
    /// Counts.
    MessageWriter() = default;
    /// @param bytes  large enough for all that will be written
    explicit MessageWriter(transport::Bytes& bytes) : bytes_(&bytes) {}
    /// Appends the bytes of a value, without alignment. @throws Failure if they do not fit
    template <class T>
    void put(const T& value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        if (auto* here = place(sizeof(T))) std::memcpy(here, &value, sizeof(T));
    }
    /// Appends a list: how many values, and then these.
    template <std::ranges::sized_range List>
    void put_list(const List& values)
    {
        put(static_cast<std::int64_t>(std::ranges::size(values)));
        for (const auto& value : values) put(value);
    }
    /// Appends the columns of a support. O(support).
    void put_support(const Support& support);
    /// Appends `count` numbers, aligned to 8 bytes.
    /// @param fill  writes them, unless this one counts
    /// @throws Failure if they do not fit
    template <class Number, class Fill>
    void numbers(std::size_t count, const Fill& fill)
    {
        align();
        if (auto* here = place(count * sizeof(Number))) fill(reinterpret_cast<Number*>(here));
    }
    void align() { at_ = aligned(at_); }
    /// Bytes so far.
    std::size_t size() const { return at_; }
    /// The next multiple of 8, in bytes.
    static std::size_t aligned(std::size_t at) { return (at + 7) & ~std::size_t{7}; }

private:
    std::byte* place(std::size_t size);
    transport::Bytes* bytes_ = nullptr;
    std::size_t at_ = 0;
};

/// Makes a message.
/// @param write  writes it to a MessageWriter; called twice, to count and to write
template <class Write>
std::shared_ptr<transport::Bytes> make_message(transport::Pool& pool, const Write& write)
{
    MessageWriter counting;
    write(counting);
    auto bytes = pool.take(counting.size());
    MessageWriter out(*bytes);
    write(out);
    return bytes;
}

/// Reads the values that a MessageWriter wrote, in the same order. Each call throws Failure if the
/// message ends too early.
class MessageReader {
public:
    /// @param bytes  must outlive the reader
    explicit MessageReader(const transport::Bytes& bytes) : bytes_(bytes) {}
    template <class T>
    T get()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        std::memcpy(&value, place(sizeof(T)), sizeof(T));
        return value;
    }
    /// Reads how many elements follow. So a false length ends before the memory does.
    /// @param size  bytes that each takes at least  @throws Failure if so many do not fit
    std::size_t get_length(std::size_t size);
    /// @return a container of the values of a list
    template <class List>
    List get_list()
    {
        List values;
        values.resize(get_length(sizeof(typename List::value_type)));
        for (auto& value : values) value = get<typename List::value_type>();
        return values;
    }
    /// @param columns  of which it is a subset
    Support get_support(std::int64_t columns);
    /// @return the next `count` numbers, in place: valid as long as the message
    template <class Number>
    std::span<const Number> numbers(std::size_t count)
    {
        at_ = MessageWriter::aligned(at_);
        return {reinterpret_cast<const Number*>(place(sizeof(Number), count)), count};
    }
    std::span<const double> doubles(std::size_t count) { return numbers<double>(count); }

private:
    const std::byte* place(std::size_t size, std::size_t count = 1);
    const transport::Bytes& bytes_;
    std::size_t at_ = 0;
};

/// Numbers the shards that a rank loads: 0 at the start, then one number for each coding, and the
/// last for the rows to score. The coordinator gives the numbers. Each message whose values are
/// packed to a shard's columns names the shard, and its receiver checks the number: values for the
/// columns of another shard may have the right length.
using ShardNumber = std::int32_t;
inline constexpr ShardNumber rows_to_score = std::numeric_limits<ShardNumber>::max();

/// @param made_for  the shard that a message names
/// @param here      the shard that its values would be taken for
/// @throws Failure if they differ
void check_shard(ShardNumber made_for, ShardNumber here);

/// A task as it travels (Dispatch in scheme/types.hpp). Workers with the same support and the same
/// plan get the same bytes: the header lists them all with their task numbers, and each looks up
/// its own. So a point is packed once for all replicas of a group.
struct TaskMessage {
    struct Recipient {
        Worker worker;
        TaskId task;
        LocalState local = {};
        bool operator==(const Recipient&) const = default;
    };
    std::vector<Recipient> recipients;
    ShardNumber shard = 0;  // of the recipients
    TaskControl control;
    Plan plan;
    /// How a point comes to the receivers: they have it already, the message includes it, it lies
    /// in memory that they share with the coordinator, or the leader of their node hands it out.
    enum class Travel : std::int64_t { known, packed, shared, by_leader };
    struct Input {
        Version version;
        Travel travel;
        std::int64_t block = 0;    // its name, if it is shared
        ConstNumbers packed = {};  // set by decode_task()
    };
    std::vector<Input> inputs;
    std::vector<ConstNumbers> operands;  // set by decode_task()
    std::shared_ptr<const void> owner;   // set by decode_task(): of the packed inputs and operands
};

/// Writes a task message. O(its size).
/// @param points   for each input the whole vector, read only if it is packed; behind them the
///                 operands. All are rounded to what travels
/// @param support  the parameters that the recipients' rows touch; points are packed to these
std::shared_ptr<transport::Bytes> encode(const TaskMessage& message, std::span<const Point> points,
                                         const Support& support, Wire wire, transport::Pool& pool);
/// Reads a task message. Its inputs and operands are views of the bytes if these are of the wanted
/// precision, else of a copy. O(header), or of a copy O(message).
/// @param shard         that the receiver has loaded
/// @param support_size  elements of a packed point
/// @throws Failure if the message was made for another shard, or ends too early
TaskMessage decode_task(std::shared_ptr<const transport::Bytes> bytes, ShardNumber shard,
                        std::size_t support_size, Wire wire, Precision precision,
                        transport::Pool& pool);

/// How a contribution message begins. The heads of its parts follow, then the versions of their
/// items, then their values, part by part, unless these lie in shared memory.
struct ContributionHead {
    std::int32_t parts;
    ShardNumber shard;    // to whose columns the values are packed
    std::int64_t block;   // the name of the values in the worker's shared memory; 0: they follow
    std::int64_t values;  // how many numbers
};

/// What a contribution message says of one part.
struct PartHead {
    ContributionInfo info;
    std::int64_t versions = 0;  // how many are listed; 0: all items have the newest
    std::int64_t length;        // numbers among the values
    Losses losses = {};
};

/// What a worker says when it has loaded a shard.
struct Ready {
    ShardNumber shard;
    WorkerInfo info;  // rank and columns do not travel: the receiver knows the sender
    Support support;  // the parameters that the shard's rows touch
};
/// O(support).
std::shared_ptr<transport::Bytes> encode(const Ready& ready, transport::Pool& pool);
/// Reads it. The rank is left 0.
/// @param columns  parameters of the model, of which the support is a subset
/// @throws Failure if the message ends too early
Ready decode_ready(const transport::Bytes& bytes, std::int64_t columns);

/// Tells a rank which worker it is from now on.
struct Assignment {
    std::int32_t worker;  // its number in the run
    std::int32_t workers,
        code_index;  // the coding is for so many workers, and the rank stores what this one stores
    ShardNumber shard;
};

/// Writes a message of a few plain values, one after the other without alignment.
template <class... Values>
std::shared_ptr<transport::Bytes> encode_values(transport::Pool& pool, const Values&... values)
{
    return make_message(pool, [&](MessageWriter& out) { (out.put(values), ...); });
}

}  // namespace quorate
