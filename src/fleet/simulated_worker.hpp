// SPDX-License-Identifier: BSD-2-Clause
// A simulated worker: what it does with its tasks, and how long that takes. VirtualFleet brings it
// tasks, calls it when its time has come, and takes its messages.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "compute/task_queue.hpp"
#include "fleet/recipes.hpp"
#include "straggler/downlink.hpp"
#include "straggler/emulation.hpp"

namespace quorate {

/// One worker, and the machine that it runs on. Times are virtual seconds; `now` never decreases
/// from call to call. Local.
class SimulatedWorker {
public:
    /// A task as a worker gets it.
    struct Order {
        TaskId task;
        std::shared_ptr<const Plan> plan;  // null: that of the task before, which is over; and once
                                           // it has begun, because the worker holds it then
        SharedTaskContext context;
        LocalState local = {};
        Seconds sent = 0;
        TaskId id() const { return task; }
        bool follows() const { return context->control.follows(); }
        bool repeats() const { return context->control.repeat; }
    };

    /// @param recipes  computes the contributions; must outlive this object, like the models
    /// @param worker   its number; first also that of its machine, which is the key of its delays
    SimulatedWorker(Recipes& recipes, const StragglerModels& models, Worker worker)
        : worker_(worker), machine_(worker), recipes_(&recipes), models_(&models)
    {
    }

    /// The way of its tasks.
    const Downlink& downlink() const { return downlink_; }
    /// Tells when a task is there that has come to its host: as Downlink::take().
    std::optional<Seconds> late_until(const Order& order, Seconds now)
    {
        return downlink_.take(*models_, machine_, order.context->control.shared_draw(), now);
    }
    /// Takes a task, which may end the running one (TaskQueue).
    void add(Order order, Seconds now);
    /// Drops all tasks up to this number.
    void cancel(TaskId last, Seconds now);
    /// Drops all tasks.
    void clear(Seconds now);
    /// Drops the gradients that it caches or holds, because the machine is gone.
    void forget_gradients()
    {
        if (cached_) cached_->gradients.clear();
        held_.clear();
    }
    /// Makes it begin anew with another shard, after clear().
    void reset(Seconds now);
    /// Has another machine, which owes no delay, take the place of its own.
    void replace_machine(int machine);
    /// Lets it count the time from now on as idle.
    void wait_from(Seconds now) { idle_since_ = now; }

    /// The plan of the task begun last; null: there was none.
    const Plan* plan() const { return plan_.get(); }
    bool is_running() const { return tasks_.is_running(); }
    bool can_begin() const { return !is_running() && tasks_.has_next(); }
    bool has(TaskId task) const;
    /// The number of the running task. Only if is_running().
    TaskId task() const { return tasks_.running().id(); }
    /// Counts the ends of running tasks; tells events that are meant for an earlier one.
    std::uint32_t epoch() const { return epoch_; }

    /// Begins the next task. Only if can_begin().
    /// @return when its first message is complete
    /// @throws Failure if it ends with its time and rows take none
    Seconds begin(Seconds now);
    /// When the next message of the running task is complete. Only if is_running().
    Seconds complete_at() const { return complete_at_; }
    /// Completes that message. Then the task goes on with the next one, or has ended.
    /// @return the contributions; their bytes are those of their values
    std::vector<Arrival> finish(Seconds now);
    /// Sets what the next contributions tell of this message: seconds that it took to leave.
    void sent_in(Seconds seconds) { send_ = seconds; }

private:
    // What a part of a plan is to this worker.
    struct Load {
        std::int64_t rows;     // its work, in rows of gradients
        std::int64_t samples;  // that go into it
        std::int64_t bytes;    // of its contribution
    };
    // A cached gradient that the running task computes.
    struct Evaluation {
        const Item* item;
        Version version;    // of the point it is taken at
        std::int64_t rows;  // that are left to compute
    };
    struct Cached {
        bool wanted;                                             // by plan_
        std::map<int, std::shared_ptr<CachedRecipe>> gradients;  // by block
        std::vector<Evaluation> updates;  // by the running task, in order of computation
        std::optional<std::pair<int, Version>> begun = {};  // a gradient left unfinished
        std::int64_t begun_rows = 0;                        // the rows of it that are computed
    };

    void stop(Seconds now);
    void leave_off(Seconds now);
    std::int64_t measure();
    void measure(std::shared_ptr<const Plan> plan);
    void plan_updates();
    void leave_out_held();
    void cache(const Item& item, Version version);
    void compute(Seconds from);
    void compute_limited(Seconds ends);
    std::int64_t whole_items_within(double rows) const;
    Arrival contribution(std::size_t part, Seconds now);
    std::size_t parts_end() const;
    // Seconds that computing so many rows takes.
    Seconds seconds_for(std::int64_t rows) const
    {
        return straggling_.seconds_for(static_cast<double>(rows), *models_);
    }

    std::uint32_t epoch_ = 0;
    std::uint32_t part_ = 0;  // of the running task, the next part to be sent
    Worker worker_;
    int machine_;
    TaskQueue<Order> tasks_;
    boost::container::small_vector<Load, 1> loads_;  // of the parts of plan_
    std::shared_ptr<const Plan> plan_;               // of the running or last task
    std::int64_t draw_ = 0;                          // of the running task
    Seconds delay_ = 0, idle_ = 0, send_ = 0;        // as in Arrival
    Seconds idle_since_ = 0;
    StragglerEmulation straggling_;
    Downlink downlink_;
    Recipes* recipes_;
    const StragglerModels* models_;
    std::unique_ptr<Cached> cached_;          // if it has ever computed cached gradients
    std::int64_t count_ = 0;                  // tasks begun that this count keys
    Seconds from_ = 0;                        // when the running task began to compute
    Seconds complete_at_ = 0;                 // its next message
    std::int64_t limited_ = 0;                // of a task with a budget, its samples
    Seconds computed_limited_ = 0;            // and how long it computes
    std::set<std::pair<int, Version>> held_;  // the gradients that it holds
    bool holds_ = false;                      // whether parts of plan_ are held, or use what is
};

}  // namespace quorate
