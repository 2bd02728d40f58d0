// SPDX-License-Identifier: BSD-2-Clause
// The workers as the engine sees them: MPI ranks, simulated workers, or those of a recorded run.
// The engine dispatches tasks and waits for contributions through this interface, whatever stands
// behind.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/block_sums.hpp"
#include "base/error.hpp"
#include "base/vector_piece.hpp"
#include "base/wire.hpp"
#include "compute/losses.hpp"
#include "compute/point.hpp"
#include "data/support.hpp"
#include "fleet/arrival.hpp"
#include "scheme/coding.hpp"
#include "scheme/types.hpp"
#include "trace/sink.hpp"

namespace quorate {

/// The values of a contribution. Valid until it is released.
struct Values {
    const Support& support;  // the parameters that the worker's rows touch
    Packed packed;           // at these parameters; of a product, its elements
    Losses losses;
    /// The values as doubles.
    std::vector<double> doubles() const;
};

/// A contribution in a sum.
struct Weighted {
    std::size_t handle;
    double weight;
    Worker worker;  // whose it is
};

/// Contributions that a step has used are lost before they were added up.
class LostContributions : public Failure {
public:
    using Failure::Failure;
};

/// A process that had a share of the parameters is lost, and nobody else has its vectors.
class LostShare : public Failure {
public:
    using Failure::Failure;
};

/// A change of membership, in the words of the trace; never a re-encoding. Only a replay tells of a
/// resumption; `worker` is then the number of those it went on with.
struct Change {
    using Kind = trace::Change;
    Kind kind;
    Worker worker;
};

/// What is known of a worker since it has loaded its shard.
struct WorkerInfo {
    int rank;  // -1: of a resumed run, a worker that has no rank any more
    std::string host;
    std::int64_t rows, columns;  // rows of its shard, parameters of its support
    bool shared = false;         // whether points and contributions lie in memory that it shares
    int group = 0;               // in which its contributions are added up
};

/// Returns the oldest and the newest version of the points that a part's items are taken at; for a
/// part without items, twice that of the task's first input. O(items).
/// @param inputs  versions that the task names, at least one
std::pair<Version, Version> versions_of(const Part& part, const Versions& inputs);

/// A vector of a checkpoint.
struct StateVector {
    Point numbers;
    bool sliced;  // whether it has an element for each parameter; else it is the same in all shares
};
/// Takes a piece of vector `vector` of a list. The pieces of a vector come one behind the other,
/// and before those of the next one.
using TakePiece = std::function<void(std::size_t vector, VectorPiece piece)>;

/// Carries out what the engine wants of workers. Used by one thread, on the coordinator. All calls
/// are local; only wait() waits.
class Fleet {
public:
    virtual ~Fleet() = default;

    virtual const std::vector<WorkerInfo>& workers() const = 0;
    /// How many groups of workers there are. The contributions of each are added up by themselves,
    /// and then the sums of the groups, so that a node can add up what its workers have.
    virtual int groups() const { return 1; }
    /// Where contributions are added up, in the words of --aggregate.
    virtual std::string aggregation() const { return groups() > 1 ? "node" : "flat"; }
    /// Where points are to lie so that workers read them in place; null: it does not matter. It
    /// lives as long as the fleet.
    virtual PointMemory* point_memory() { return nullptr; }
    /// Seconds since the first dispatch, by this fleet's clock; 0 before.
    virtual Seconds now() const = 0;

    /// Gives a worker a task. It is sent when wait() is called, or before. A task for a worker that
    /// is gone is lost.
    /// @param inputs  the points that the task names, in its order, and behind them its operands
    virtual void dispatch(const Dispatch& task, PointList inputs) = 0;
    /// Has a worker drop a task. The worker is told when wait() is called, or before.
    virtual void close(Worker worker, TaskId task) = 0;

    /// Waits for the next message and returns its contributions. Those of closed tasks are
    /// delivered too, because the engine counts them.
    /// @param until  point in time on this fleet's clock; `never`: no limit
    /// @param stop   ends the wait when another thread or a signal sets it
    /// @return nothing if time is up, `stop` is set or membership changes before a message comes
    /// @throws Failure if nothing can come any more; see the fleets
    virtual std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) = 0;
    /// A task whose contribution is expected.
    struct Expected {
        Worker worker;
        TaskId task;
    };
    /// Returns what a simulation knows to come soon, each task about once: a hint, so that what is
    /// known of these workers can be fetched into the cache. Valid until wait() is called.
    virtual std::span<const Expected> expected() const { return {}; }

    /// A timer has gone off, of which the engine tells the scheme next.
    virtual void fired([[maybe_unused]] int timer) {}

    /// Has a worker leave, die without notice, or come back; changes() tells when it has. The
    /// caller asks only for what is a change: no worker that has left to leave, and none that takes
    /// part to join.
    virtual void change(const Change& wanted) = 0;
    /// Returns the changes of membership since the last call, in their order.
    /// @param event  the number that the next event will have; only a replay uses it
    virtual std::vector<Change> changes(std::int64_t event) = 0;
    /// Whether workers join later in the recorded run that is being replayed.
    virtual bool joins() const { return false; }
    /// Whether the next event of a recorded run, which has this number, is that it was resumed with
    /// other workers, or without the states of inner optimisers. Then the caller asks for changes()
    /// before it does anything else.
    virtual bool resumes(std::int64_t) const { return false; }
    /// Takes over a contribution that was computed elsewhere, when a run is resumed. The worker has
    /// loaded the shard that it was computed from. Copies the values.
    /// @return its handle
    /// @throws std::logic_error if this fleet has no use for one (all but RankFleet)
    virtual std::size_t adopt(Worker worker, const Values& values);
    /// Sets the clock, and for each worker its own count of tasks, when a run is resumed.
    virtual void set_clock(Seconds, std::span<const std::int64_t>) {}

    /// No task has left a state any more: tasks that are open begin anew. A fleet of workers that
    /// are there is not told, because these have none.
    virtual void forget_states() {}

    /// Makes workers hold what this coding says from now on; they load what they lack. No task may
    /// be open. Values of earlier contributions are lost.
    /// @param members  for each worker of the coding, its number in the run
    virtual void reencode(std::shared_ptr<const Coding> coding,
                          std::span<const Worker> members) = 0;

    /// Waits until all workers have loaded what they are to hold, or are dead.
    virtual void load() {}

    /// Announces that the values of these contributions are wanted next. A fleet that computes them
    /// itself computes all of them at once then, on all cores.
    virtual void prepare(std::span<const std::size_t>) {}
    /// Has contributions added up where they are, if that is elsewhere.
    /// @param groups  for each group of workers the contributions, in the order of summation
    /// @return for each group its sum, rounded as if it were a contribution; null where the caller
    ///         adds up values(). Valid until the next call; none: the caller adds up all of them
    /// @throws LostContributions
    virtual std::vector<std::optional<Values>> sums(std::span<const std::vector<Weighted>>)
    {
        return {};
    }
    /// Adds up scalars of the whole vectors over all who have a share of them, as SumBlocks says
    /// (base/block_sums.hpp). All who have a share call it equally often, with as many sums; it may
    /// wait for the others.
    /// @param blocks   the caller's  @param sums  receives their sums over all shares
    /// @param decides  whether all need the sums, because the vectors depend on them; otherwise the
    ///                 coordinator alone gets them, for the trace
    virtual void sum_of_blocks(std::span<const double> blocks, std::span<double> sums,
                               [[maybe_unused]] bool decides)
    {
        sum_blocks(blocks, sums);
    }
    /// The sink that an engine is to give its models to. If their parameters are shared out, the
    /// fleet joins them. @param whole  receives rows and whole models; must outlive the run
    virtual trace::Sink& join_models(trace::Record& whole) { return whole; }
    /// Joins vectors, if their parameters are shared out, at this point of the run's history: at
    /// once, or later and at the latest in end_models(); never, if the run fails before.
    /// @param vectors  of this process
    /// @param take     receives them whole, in the same order, in pieces
    virtual void join_vectors(const std::vector<StateVector>& vectors, const TakePiece& take);
    /// Gives the final models to a record, and all that join_models() and join_vectors() have not
    /// joined yet. After the engine's run; may wait for those who have a share. O(parameters).
    /// @param models  those of this process, which outlive the record
    virtual void end_models(std::span<const ConstNumbers> models, trace::Record& record);
    /// Whether the recorded run that is being replayed has lost contributions of a step.
    /// @param event  the number that the next event will have
    virtual bool has_lost(std::int64_t) const { return false; }
    /// The parameters that a worker's rows touch.
    virtual const Support& support(Worker worker) = 0;
    /// The losses of a contribution, as in Values.
    virtual Losses losses(std::size_t handle) { return values(handle).losses; }
    /// Returns the values of a contribution. A fleet that computes them itself may do so now.
    virtual Values values(std::size_t handle) = 0;
    /// A hash that is equal for contributions whose values are equal bit by bit. Not safe against
    /// forgery. O(values).
    virtual std::uint64_t fingerprint(std::size_t handle);
    /// Frees the values; the handle may be given out again.
    virtual void release(std::size_t handle) = 0;

    /// Bytes of the messages with tasks and contributions so far, headers included.
    virtual std::int64_t bytes_sent() const = 0;
    virtual std::int64_t bytes_received() const = 0;
};

/// SumBlocks over all who have a share of a fleet's vectors. @param fleet  must outlive the result
inline SumBlocks sums_over(Fleet& fleet)
{
    return [&fleet](std::span<const double> blocks, std::span<double> sums) {
        fleet.sum_of_blocks(blocks, sums, true);
    };
}

}  // namespace quorate
