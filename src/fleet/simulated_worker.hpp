// SPDX-License-Identifier: BSD-2-Clause
// A simulated worker: what it does with its tasks, and how long that takes. VirtualFleet brings it
// tasks, calls it when its time has come, and takes its messages.
#pragma once

#include <map>
#include <optional>

#include "compute/task_queue.hpp"
#include "fleet/recipes.hpp"
#include "straggler/emulation.hpp"

namespace quorate {

/// One worker, and the machine that it runs on. Times are virtual seconds; `now` never decreases
/// from call to call. Local.
class SimulatedWorker {
public:
    /// A task with the points that it names, as a worker gets it.
    struct Order {
        Dispatch task;
        PointList points;
        Seconds sent = 0;
        TaskId id() const { return task.task; }
        bool follows() const { return task.control.follows(); }
        bool repeats() const { return task.control.repeat; }
    };

    /// @param recipes  computes the contributions; must outlive this object, like the models
    /// @param machine  the key of its delays
    SimulatedWorker(Recipes& recipes, const StragglerModels& models, int machine)
        : recipes_(&recipes), models_(models), machine_(machine)
    {
    }

    /// Takes a task, which may end the running one (TaskQueue).
    void add(Order order, Seconds now);
    /// Drops all tasks up to this number.
    void cancel(TaskId last, Seconds now);
    /// Drops all tasks.
    void clear(Seconds now);
    /// Drops the cached gradients, because the machine is gone.
    void forget_gradients() { cache_.clear(); }
    /// Makes it begin anew with another shard, after clear().
    void reset(Seconds now);
    /// Adds the points at which its cached gradients were taken.
    void add_points(std::map<Version, Point>& points) const;
    /// Has another machine, which owes no delay, take the place of its own.
    void replace_machine(int machine);
    /// Lets it count the time from now on as idle.
    void wait_from(Seconds now) { idle_since_ = now; }

    bool is_running() const { return tasks_.is_running(); }
    bool can_begin() const { return !is_running() && tasks_.has_next(); }
    bool has(TaskId task) const;
    /// The number of the running task. Only if is_running().
    TaskId task() const { return tasks_.running().id(); }
    /// Counts the ends of running tasks; tells events that are meant for an earlier one.
    std::uint32_t epoch() const { return epoch_; }

    /// Begins the next task. Only if can_begin().
    /// @throws Failure if it ends with its time and rows take none
    void begin(Seconds now);
    /// When the next message of the running task is complete.
    Seconds complete_at() const { return complete_at_; }
    /// Completes that message. Then the task goes on with the next one, or has ended.
    /// @return the contributions; their bytes are those of their values
    std::vector<Arrival> finish(Seconds now);
    /// Sets what the next contributions tell of this message: seconds that it took to leave.
    void sent_in(Seconds seconds) { send_ = seconds; }

private:
    // A cached gradient that the running task computes.
    struct Evaluation {
        const Item* item;
        Version version;
        std::int64_t rows;  // still to compute
    };

    void stop(Seconds now);
    void leave_off(Seconds now);
    std::int64_t measure();
    void plan_updates();
    void cache(const Item& item, Version version);
    void compute(Seconds from);
    void compute_limited(Seconds ends);
    Arrival contribution(std::size_t part, Seconds now);
    std::size_t parts_end() const;
    // Seconds that computing so many rows takes.
    Seconds seconds_for(std::int64_t rows) const
    {
        return static_cast<double>(rows) * models_.row_time * straggling_.slowdown();
    }

    Recipes* recipes_;
    StragglerModels models_;
    int machine_;
    TaskQueue<Order> tasks_;
    std::uint32_t epoch_ = 0;
    std::size_t part_ = 0;            // of the running task, the next part to be sent
    std::vector<std::int64_t> rows_;  // the load of each part of measured_
    std::shared_ptr<const Plan> measured_;
    std::int64_t limited_ = 0;         // of a task with a budget, its samples
    Seconds computed_limited_ = 0;     // and how long it computes
    std::vector<Evaluation> updates_;  // by the running task, in the order of computation
    std::map<int, std::shared_ptr<CachedRecipe>> cache_;  // by block
    std::optional<std::pair<int, Version>> begun_;        // a cached gradient left unfinished
    std::int64_t begun_rows_ = 0;                         // the rows of it that are computed
    std::int64_t count_ = 0;                              // tasks begun that this count keys
    std::int64_t draw_ = 0;                               // of the running task
    StragglerEmulation straggling_;
    Seconds from_ = 0;                                          // when it began to compute
    Seconds complete_at_ = 0;                                   // its next message
    Seconds delay_ = 0, idle_ = 0, idle_since_ = 0, send_ = 0;  // as in Arrival
};

}  // namespace quorate
