// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compute/gradient_cache.hpp"
#include "compute/store.hpp"
#include "mpi/messages.hpp"
#include "straggler/byzantine.hpp"
#include "straggler/emulation.hpp"

namespace quorate {

/// What the tasks of one worker compute with, and what outlives each of them.
struct WorkerContext {
    Computing computing;
    StragglerModels stragglers;
    const ByzantineWorkers& byzantine;
    mpi::Pool& pool;
    Worker worker = -1;  // its number in the run
    std::optional<Store> store = {};
    std::map<Version, HeldPoint> points = {};  // that its tasks name
    GradientCache cache = {};
    StragglerEmulation straggling = {};
    Seconds row_seconds = 0;  // what a row of the last chunk took
};

/// Rows that a task asks of its worker.
std::int64_t rows_asked(const WorkerContext& context, const TaskMessage& message);

/// A task of a worker's rank under way: computes chunk by chunk, pads a slow machine's chunks with sleep, and
/// writes the messages. Local.
class TaskExecution {
public:
    /// @param context, message  outlive it  @param draw  the key of its delay
    /// @param now  when the delay of that draw was looked up
    TaskExecution(WorkerContext& context, TaskId id, const TaskMessage& message, std::int64_t draw,
                  Seconds now);

    TaskId id() const { return id_; }
    /// When it goes on: the injected delay is over, or the slower machine would have got here.
    Seconds wake() const { return wake_; }
    /// Computes a chunk, or ends a part. @return whether a message is complete
    bool step();
    /// The message that is complete. @param idle, send  durations to be told in it
    std::shared_ptr<mpi::Bytes> take_message(Seconds idle, Seconds send);
    /// Whether all messages were taken.
    bool done() const { return part_ == message_.plan.parts.size() && heads_.empty(); }
    /// It is dropped; what it has computed for the cache stays.
    void stop(Seconds now);

private:
    enum class Stage { computing, computed, held_back };
    const Part& part() const { return message_.plan.parts[part_]; }
    At at(Version version) const;
    void begin_part();
    void compute_chunk();
    Work* next_work();
    bool out_of_time(const Work& work);
    void pace(Seconds chunk);
    void complete_part();
    bool finish_part();
    std::span<double> output();
    std::size_t length(std::size_t part) const;
    std::size_t length_before(std::size_t part) const;
    std::size_t parts_in_message() const;
    std::size_t values_at() const;

    WorkerContext& context_;
    TaskId id_;
    const TaskMessage& message_;
    std::int64_t draw_;
    Versions inputs_;
    Seconds delay_, deadline_, wake_;
    Stage stage_ = Stage::computing;
    std::size_t part_ = 0;              // what is computed next
    bool begun_ = false;                // that part
    std::unique_ptr<Work> work_;        // of that part, unless it is a sum of cached gradients
    std::vector<CacheUpdate> updates_;  // that the part needs yet
    std::int64_t rows_ = 0;             // computed for that part
    Seconds part_began_ = 0, paused_ = 0, compute_ = 0;
    std::vector<PartHead> heads_;  // of the parts computed and not yet sent, and the running one
    Versions versions_;            // of those parts' items, where they differ
    std::shared_ptr<mpi::Bytes> output_;
};

}  // namespace quorate
