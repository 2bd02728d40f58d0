// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "fleet/fleet.hpp"
#include "ranks/coordinator_mailbox.hpp"
#include "ranks/node_messages.hpp"

namespace quorate {

/// The ranks of a fleet, by what they are in the beginning.
struct FleetRanks {
    std::vector<int>
        workers;  // of each worker its rank; -1: it is gone, and no rank is that worker
    std::vector<int> standby;  // that take the places of workers that die
    std::vector<int> idle;     // that never become workers
    int spare = -1;            // the idle one that scores models as the run goes on; -1: none
};

/// Which rank is which worker, and which workers take part, load rows, have left or are dead. Gives
/// the places of dead workers to standby ranks. Never waits. Local.
class Membership {
public:
    /// Is told what becomes of workers, at once.
    class Listener {
    public:
        virtual ~Listener() = default;
        /// The worker has no tasks any more.
        virtual void forgets(Worker worker) = 0;
        /// The worker has loaded the shard that it was told to load last.
        virtual void has_loaded(Worker worker) = 0;
        /// Nothing waits for the worker's rank any more.
        /// @param replaced  whether a standby rank is going to be the worker
        virtual void has_died(Worker worker, bool replaced) = 0;
        /// The worker had been taken for dead, and is not.
        virtual void is_back(Worker worker) = 0;
    };

    /// All workers are taken to load what they store in the beginning.
    /// @param mailbox, listener  must outlive this object
    /// @param parameters         of the model
    Membership(CoordinatorMailbox& mailbox, Listener& listener, FleetRanks ranks,
               std::int64_t parameters);

    /// Sets in which group each worker's contributions are added up.
    void set_groups(std::span<const int> groups);

    const std::vector<WorkerInfo>& workers() const { return info_; }
    int rank(Worker worker) const { return info_[static_cast<std::size_t>(worker)].rank; }
    /// The worker that a rank is; -1: none.
    Worker worker_of(int rank) const { return worker_of_[static_cast<std::size_t>(rank)]; }
    /// Workers that are not dead.
    std::vector<Worker> living() const;
    /// Ranks that are no workers: those that may still become some, and those that do not.
    const std::vector<int>& standby() const { return standby_; }
    const std::vector<int>& idle() const { return idle_; }
    /// The idle rank that scores models as the run goes on; -1: none.
    int spare() const { return spare_; }
    bool is_here(Worker worker) const { return of(worker).state == State::here; }
    bool is_dead(Worker worker) const { return of(worker).state == State::dead; }
    /// Whether the worker has not said yet that it has loaded its shard.
    bool is_loading(Worker worker) const { return of(worker).loading; }
    /// Whether some worker that is not dead loads.
    bool is_loading() const;
    /// The shard that the worker was told to load last.
    ShardNumber shard(Worker worker) const { return of(worker).shard; }
    /// The shard that it has, or had before it was to load another one.
    const Touched& loaded(Worker worker) const { return of(worker).loaded; }

    /// Takes note of a message that has come. The same one may come twice.
    void take(const transport::Message& message);
    /// Pings silent ranks and finds dead ones, every 20 ms at most.
    void find_dead();
    /// Whether take_changes() has something to tell.
    bool has_changed() const { return !changes_.empty(); }
    std::vector<Change> take_changes() { return std::exchange(changes_, {}); }

    /// As Fleet::change() and Fleet::reencode().
    void change(const Change& wanted);
    void reencode(int workers, std::span<const Worker> members);
    /// From here on no rank takes the place of a worker that dies.
    void replace_no_more();

private:
    // Whether a worker takes part, has left, or is dead. A dead one gets no messages.
    enum class State { here, away, dead };
    struct Member {
        State state = State::here;
        ShardNumber shard = 0;
        bool loading = true;
        bool joins = false;     // it takes the place of a worker that died when it has loaded
        bool leaves = false;    // it has given notice; that counts once it has loaded its shard
        Worker code_index = 0;  // of it in the running coding; -1: not part of it
        Touched loaded = {};
    };

    Member& of(Worker worker) { return members_[static_cast<std::size_t>(worker)]; }
    const Member& of(Worker worker) const { return members_[static_cast<std::size_t>(worker)]; }
    void be_ready(const transport::Message& message);
    void mark_dead(Worker worker);
    void replace(Worker worker);
    void assign(Worker worker);
    void leave(Worker worker);

    CoordinatorMailbox& mailbox_;
    Listener& listener_;
    std::vector<WorkerInfo> info_;
    std::vector<Member> members_;
    std::vector<Worker> worker_of_;  // by rank
    std::vector<int> standby_, idle_;
    int spare_;
    std::int64_t parameters_;
    int coded_for_;           // number of workers of the running coding
    ShardNumber shards_ = 0;  // the number of its shards
    Seconds checked_ = 0;     // when the dead were looked for last
    std::vector<Change> changes_;
};

}  // namespace quorate
