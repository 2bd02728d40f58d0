// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compute/cached_gradients.hpp"
#include "compute/held_gradients.hpp"
#include "compute/store.hpp"
#include "compute/task_states.hpp"
#include "ranks/host_memory.hpp"
#include "ranks/messages.hpp"
#include "straggler/byzantine.hpp"
#include "straggler/emulation.hpp"

namespace quorate {

/// What one worker has for all of its tasks: what it computes with, and what outlives each task.
struct WorkerContext {
    Computing computing;
    StragglerModels stragglers;
    const ByzantineWorkers& byzantine;
    transport::Pool& pool;
    SharedBlocks* shared;  // for contributions that are read in place; null: messages have them
    Worker worker = -1;    // its number in the run; -1: not assigned yet
    ShardNumber shard = 0;
    std::optional<Store> store = {};            // of that shard
    std::map<Version, LocalPoint> points = {};  // the points that its tasks name
    GradientCache cache = {};
    HeldGradients held = {};
    TaskStates states = {};
    StragglerEmulation straggling = {};
    Seconds row_seconds = 0;  // per row, of the last chunk; includes an emulated slowdown
};

/// The number of rows that a task asks its worker to compute, as far as time allows. Of cached
/// and held gradients only those count that are to be computed. Local.
std::int64_t rows_asked(const WorkerContext& context, const TaskMessage& message);

/// A running task on a worker's rank. It computes the task chunk by chunk, asks for pauses where it
/// emulates a slow machine, and writes the messages. The caller sleeps and sends: it calls step()
/// whenever wake() has passed, and take_message() when step() returns true. Local.
class TaskExecution {
public:
    /// @param context, message  must outlive this object
    /// @param draw  key of the delay, after the worker's own count has been filled in
    /// @param now   clock_seconds(); context.straggling has begun this draw at that time
    /// @param states  that the task goes on from and leaves
    TaskExecution(WorkerContext& context, TaskId id, const TaskMessage& message, std::int64_t draw,
                  Seconds now, StatePlaces states = {});

    TaskId id() const { return id_; }
    /// When the next step is due, by clock_seconds(): when the injected delay is over, or when the
    /// machine that is emulated would have got this far.
    Seconds wake() const { return wake_; }
    /// Computes a chunk (Model::chunk_rows), and completes the part if it was the last.
    /// @return whether a message is complete
    bool step();
    /// Returns the complete message (PartHead). To be called once after step() returned true.
    /// @param idle, send  seconds that the message tells: how long the worker idled, and how long
    ///                    its previous contribution took to leave
    std::shared_ptr<transport::Bytes> take_message(Seconds idle, Seconds send);
    /// Whether all messages of the task were taken.
    bool done() const { return part_ == message_.plan.parts.size() && heads_.empty(); }
    /// Drops the task at time `now`. The gradient cache keeps what was computed for it.
    void stop(Seconds now);

private:
    enum class Stage { computing, computed, late };
    const Part& part() const { return message_.plan.parts[part_]; }
    At at(Version version) const;
    void begin_part();
    void compute_chunk();
    Work* next_work();
    bool out_of_time(const Work& work);
    void pace(Seconds chunk, std::int64_t rows);
    // Seconds that rows take at least, because that is emulated.
    Seconds seconds_for(std::int64_t rows) const
    {
        return context_.straggling.seconds_for(static_cast<double>(rows), context_.stragglers);
    }
    void complete_part();
    bool finish_part();
    Precision precision() const { return context_.computing.model.precision(); }
    Numbers output();
    std::size_t length(std::size_t part) const;
    std::size_t length_before(std::size_t part) const;
    std::span<const Part> parts_in_message() const;
    std::size_t values_at() const;
    std::size_t values_in_message() const;
    void make_room();
    void pack(MessageWriter& out, std::size_t size);
    const Compression& compression() const { return context_.computing.compression; }
    std::size_t compressed_before(std::size_t part) const;
    void compress_part();

    WorkerContext& context_;
    TaskId id_;
    const TaskMessage& message_;
    std::int64_t draw_;
    StatePlaces states_;
    Versions inputs_;
    Seconds delay_, deadline_, wake_;
    Stage stage_ = Stage::computing;
    std::size_t part_ = 0;              // the running part, or the next one
    bool begun_ = false;                // whether that part has begun
    std::unique_ptr<Work> work_;        // of that part, unless it is a sum of cached gradients
    std::vector<CacheUpdate> updates_;  // gradients that the part still has to compute
    std::int64_t rows_ = 0;             // rows computed for that part
    Seconds part_began_ = 0, paused_ = 0, compute_ = 0;  // paused_: when a pause began; 0: none
    std::vector<PartHead> heads_;  // of the parts computed and not yet sent, and the running one
    Versions versions_;            // of the items of those parts that are sums of cached gradients
    std::shared_ptr<transport::Bytes> output_;  // the message
    // Its values, if they lie in shared memory, or are packed before they are sent.
    std::shared_ptr<double> block_;
    std::shared_ptr<transport::Bytes> unpacked_;
};

}  // namespace quorate
