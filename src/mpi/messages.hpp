// SPDX-License-Identifier: BSD-2-Clause
// What the bytes of a message mean. A message is a header and a payload of doubles in one buffer;
// both ends run on machines of one architecture, so bytes are sent as they stand in memory.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/support.hpp"
#include "fleet/fleet.hpp"
#include "mpi/mpi.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// Writes values one after the other, doubles aligned.
class Writer {
public:
    explicit Writer(mpi::Bytes& bytes) : bytes_(bytes) {}
    template <class T>
    void put(const T& value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(place(sizeof(T)), &value, sizeof(T));
    }
    /// Room for `count` doubles, aligned, to be filled by the caller.
    double* doubles(std::size_t count)
    {
        at_ = aligned(at_);
        return reinterpret_cast<double*>(place(count * sizeof(double)));
    }
    static std::size_t aligned(std::size_t at) { return (at + 7) & ~std::size_t{7}; }

private:
    std::byte* place(std::size_t size);
    mpi::Bytes& bytes_;
    std::size_t at_ = 0;
};

/// Reads what Writer wrote. @throws Failure if the message ends too early
class Reader {
public:
    explicit Reader(const mpi::Bytes& bytes) : bytes_(bytes) {}
    template <class T>
    T get()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        std::memcpy(&value, place(sizeof(T)), sizeof(T));
        return value;
    }
    std::span<const double> doubles(std::size_t count)
    {
        at_ = Writer::aligned(at_);
        return {reinterpret_cast<const double*>(place(count * sizeof(double))), count};
    }

private:
    const std::byte* place(std::size_t size);
    const mpi::Bytes& bytes_;
    std::size_t at_ = 0;
};

/// A task as it travels. Workers with the same support and the same plan get the same bytes: the
/// header lists them all with their task numbers, and each looks up its own. So a point is packed
/// once for all replicas of a group.
struct TaskMessage {
    std::vector<std::pair<Worker, TaskId>> recipients;
    std::int64_t draw = 0;
    bool after = false, repeat = false;
    Budget budget;
    double step = 0;  // of descent
    Plan plan;
    struct Input {
        Version version;
        bool included;                        // else the receiver holds it already
        std::span<const double> packed = {};  // decoded: into the message's bytes
    };
    std::vector<Input> inputs;
    std::vector<std::span<const double>> operands;  // decoded: into the message's bytes
};

/// @param points   for each input, the whole vector (read if included); behind them, the operands
/// @param support  the columns that the recipients want
std::shared_ptr<mpi::Bytes> encode(const TaskMessage& message, std::span<const Point> points,
                                   const Support& support, mpi::Pool& pool);
TaskMessage decode_task(const mpi::Bytes& bytes, std::size_t support_size);

/// Head of a contribution message; `parts` PartHeads follow, then the versions of their items, then
/// their values, part by part.
struct ContributionHead {
    TaskId task;
    std::int64_t draw;
    Seconds delay, idle, send;
    std::int32_t parts, padding = 0;
};
struct PartHead {
    std::int32_t part, versions = 0;  // versions: how many are listed; 0: all items have the newest
    std::int64_t samples, length;     // length: of its values
    Version oldest, newest;
    double loss;
    Seconds compute;
};

std::shared_ptr<mpi::Bytes> encode_ready(const WorkerInfo& info, const Support& support,
                                         mpi::Pool& pool);
std::pair<WorkerInfo, Support> decode_ready(const mpi::Bytes& bytes, std::int64_t columns);

/// Which worker a rank is.
struct Assignment {
    std::int32_t worker;  // its number in the run
    std::int32_t workers,
        code_index;  // of the coding: for how many workers, and which of them it is
};

/// A message of a few plain values.
template <class... Values>
std::shared_ptr<mpi::Bytes> encode_values(mpi::Pool& pool, const Values&... values)
{
    auto bytes = pool.take((sizeof(Values) + ... + 0));
    Writer out(*bytes);
    (out.put(values), ...);
    return bytes;
}

}  // namespace quorate
