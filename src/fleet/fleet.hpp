// SPDX-License-Identifier: BSD-2-Clause
// The workers as the engine sees them: MPI ranks, or simulated ones.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/point.hpp"
#include "data/support.hpp"
#include "scheme/coding.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// One contribution as it came in. Seconds are measured where they pass: delay, compute, idle and
/// send at the worker; sent and arrived at the coordinator.
struct Arrival {
    Worker worker;
    TaskId task;
    int part;
    std::int64_t draw, samples;
    Version oldest, newest;
    std::vector<Version> versions;  // of its items in their order, if they differ
    Seconds sent, arrived, compute, delay, idle, send;
    std::int64_t bytes;  // its share of the message
    std::size_t handle;  // the fleet's name for its values
};

/// The values of a contribution at the columns of its worker's support.
struct Values {
    const Support& support;
    std::span<const double> packed;
    double loss;  // sum over the samples of the loss at the points used
};

/// Who takes part has changed.
struct Change {
    enum class Kind {
        joined,  // again, or in the place of one that died
        left,    // with notice
        died,
        loading  // a standby rank has begun to load what one that died has stored
    } kind;
    Worker worker;
};

/// What a worker said when it was ready.
struct WorkerInfo {
    int rank;
    std::string host;
    std::int64_t rows, columns;  // of its shard; columns: of its support
};

/// The oldest and the newest of the points that a part's items are taken at; of a part without items,
/// the task's first.
std::pair<Version, Version> versions_of(const Part& part, const Versions& inputs);

/// The key of an item's samples, where `draw` is what the worker counts if the task says so.
inline std::int64_t key_of(const Dispatch& task, std::int64_t draw, Version point)
{
    return task.draw == own_count ? draw : point;
}

/// Carries out what the engine wants of workers. Used by one thread.
class Fleet {
public:
    virtual ~Fleet() = default;

    virtual const std::vector<WorkerInfo>& workers() const = 0;
    /// Seconds since the first dispatch; 0 before.
    virtual Seconds now() const = 0;

    /// Gives a worker a task, at the latest when wait() is called. Returns at once.
    /// @param inputs  the points that the task names, in its order
    virtual void dispatch(const Dispatch& task, PointList inputs) = 0;
    /// Lets a worker drop a task, at the latest when wait() is called. Never waits.
    virtual void close(Worker worker, TaskId task) = 0;

    /// The contributions of the next message; nothing if `until` passes, `stop` is set or membership
    /// changes before one comes. Contributions of closed tasks are delivered too: the engine counts them.
    virtual std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) = 0;

    /// Has a worker leave, die without a word, or come back. Returns at once; changes() says when it
    /// is so. Whoever has left already is not asked to leave, and so on.
    virtual void change(const Change& wanted) = 0;
    /// Changes of membership since the last call, in their order. What is dispatched to a worker that
    /// is gone is lost.
    /// @param event  the number that the next event will have
    virtual std::vector<Change> changes(std::int64_t event) = 0;
    /// Whether the recorded run that is being replayed has workers that join yet.
    virtual bool joins() const { return false; }
    /// Adds the points at which it may yet compute, beside those of open tasks.
    virtual void add_points(std::map<Version, Point>&) const {}
    /// A contribution that was computed elsewhere. @return its handle
    virtual std::size_t adopt(Worker worker, std::vector<double> values, double loss);
    /// The clock stands at that time now, and the first workers' own counts of tasks at these.
    virtual void set_clock(Seconds, std::span<const std::int64_t>) {}

    /// From now on workers hold what this coding says, and load what they lack. No task is open.
    /// @param members  for each worker of the coding, its number here
    virtual void reencode(std::shared_ptr<const Coding> coding,
                          std::span<const Worker> members) = 0;

    /// The values of these contributions are wanted next: a fleet that computes them itself may do
    /// so all at once.
    virtual void prepare(std::span<const std::size_t>) {}
    virtual Values values(std::size_t handle) = 0;
    /// Equal for contributions whose values are equal bit by bit. Not safe against forgery.
    virtual std::uint64_t fingerprint(std::size_t handle);
    virtual void release(std::size_t handle) = 0;

    /// Bytes of all messages so far, headers included.
    virtual std::int64_t bytes_sent() const = 0;
    virtual std::int64_t bytes_received() const = 0;
};

}  // namespace quorate
