// SPDX-License-Identifier: BSD-2-Clause
// What a worker's rank does from the start of a run to its farewell.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "compute/part_sum.hpp"
#include "compute/store.hpp"
#include "data/shard.hpp"
#include "mpi/backoff.hpp"
#include "mpi/failure_detector.hpp"
#include "mpi/messages.hpp"
#include "mpi/mpi.hpp"
#include "scheme/scheme.hpp"
#include "straggler/byzantine.hpp"
#include "straggler/delay.hpp"

namespace quorate {

/// What is done to a worker's times: delays are slept, slow computation is padded with sleep.
struct StragglerEmulation {
    Seconds row_time;  // computing a row takes at least that long, times the slowdown
    DelayModel& delays;
    DelayModel& slowdowns;
};

/// Computes tasks in chunks of rows and looks at its mailbox in between, so that a newer task, a
/// cancel or the end of the run interrupts computation and delays alike.
class MpiWorker {
public:
    /// It idles until it is assigned.
    /// @param timeout  the coordinator is taken for dead when it is silent for ten times as long
    MpiWorker(const mpi::Comm& comm, const DataSet& data, const Computing& computing,
              const MakeCoding& make_coding, const StragglerEmulation& emulation,
              const ByzantineWorkers& byzantine, Seconds timeout, Doorbells& bells);

    /// Loads what this worker of the coding for so many workers stores.
    void take(const Assignment& assignment);

    class Orphaned : public Failure {
    public:
        using Failure::Failure;
    };

    /// Until the coordinator says stop, whatever the worker is doing then. Local, but for its messages.
    /// @param leave  becomes true when the rank is asked to leave the run
    /// @return whether to call MPI_Finalize
    /// @throws Orphaned if the coordinator is gone
    bool run(const std::atomic<bool>& leave);

private:
    struct HeldPoint {
        std::shared_ptr<mpi::Bytes> bytes;  // keeps alive what `packed` looks at
        std::span<const double> packed;
    };
    struct Task {
        TaskId id;
        TaskMessage message;
        std::shared_ptr<mpi::Bytes> bytes;  // keeps alive what its operands look at
        std::int64_t draw = 0;
        Versions inputs = {};
        Seconds delay = 0, deadline = never;
        enum class Stage { computing, computed, held } stage = Stage::computing;
        std::size_t part = 0;             // what is computed next
        bool begun = false;               // that part
        std::unique_ptr<Work> work = {};  // of that part, unless it is a sum of cached gradients
        std::vector<CacheUpdate> updates = {};  // gradients that the part needs computed
        std::int64_t rows = 0;                  // computed for that part
        Seconds part_began = 0, paused = 0, compute = 0;
        std::vector<PartHead> heads =
            {};                  // of the parts computed and not yet sent, and the running one
        Versions versions = {};  // of those parts' items, where they differ
        std::shared_ptr<mpi::Bytes> output = {};
    };
    // A gradient that is being computed for the cache; it goes on if the next task wants it too.
    struct PendingUpdate {
        Part part;  // the one item
        HeldPoint point;
        CachedGradient gradient;
        std::unique_ptr<Work> work = {};
        Seconds left = 0;  // that a slower computation would still take
        bool is_for(const CacheUpdate& wanted) const
        {
            return part.items[0].block == wanted.item->block && gradient.version == wanted.version;
        }
    };

    void look();
    void rest(Seconds at_most = never);
    void give_notice();
    void take(const mpi::Transfer& mail);
    void clear();
    void drop();
    void accept(const std::shared_ptr<mpi::Bytes>& bytes);
    std::vector<CacheUpdate> updates_of(const Part& part) const;
    void evict(const Part& part);
    void begin();
    void step();
    void begin_part();
    void compute_chunk();
    Work* next_work();
    void begin_update(const CacheUpdate& wanted);
    void complete_part();
    bool out_of_time(const Work& work);
    void pace(Seconds chunk);
    void finish_part();
    At at(Version version) const;
    HeldRows held() const { return store_->held(); }
    const Support& support() const { return store_->support(); }
    void send_parts();
    void send(mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);
    void evaluate(const mpi::Bytes& bytes);
    void score(const mpi::Bytes& bytes);
    std::span<double> output();
    std::size_t length(std::size_t part) const;
    std::size_t length_before(std::size_t part) const;
    std::size_t parts_in_message() const;
    std::size_t values_at() const;
    std::int64_t load() const;

    const mpi::Comm& comm_;
    Worker worker_ = -1;  // its number in the run
    const DataSet& data_;
    Computing computing_;
    MakeCoding make_coding_;
    std::shared_ptr<const Coding> coding_;
    StragglerEmulation emulation_;
    const ByzantineWorkers& byzantine_;
    std::optional<Store> store_;
    mpi::Pool pool_;
    Doorbells& bells_;
    Backoff backoff_{1e-3, &bells_};
    FailureDetector detector_;
    bool stopped_ = false, finalize_ = true, told_ = false;
    Seconds asked_ = -1;  // when it was asked to leave

    std::map<Version, HeldPoint> points_;  // those that the newest task names
    std::map<int, CachedGradient> cache_;  // by block
    std::unique_ptr<PendingUpdate> pending_;
    std::optional<Task> task_;
    std::deque<Task> next_;  // tasks that follow the running one
    std::optional<mpi::Transfer> incoming_, outgoing_, aside_;
    std::int64_t count_ = 0;   // tasks begun that its own count keys
    std::int64_t drawn_ = -1;  // the draw whose delay was slept
    double factor_ = 1;        // slowdown of that draw
    Seconds reception_ = 0;    // delay of that draw's messages
    Seconds wake_ = 0;         // when it goes on: the delay is over, the computation slow enough
    Seconds delayed_ = 0;      // when the delay of that draw is over
    Seconds row_seconds_ = 0;  // what a row of the last chunk took
    std::optional<Seconds> idle_since_;  // none: before the first task
    Seconds idle_ = 0;
    Seconds send_began_ = 0, send_ = 0;  // of the last contribution
    std::optional<Shard> evaluation_;    // rows to score, after the run
};

}  // namespace quorate
