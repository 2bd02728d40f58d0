// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/numbered.hpp"
#include "fleet/fleet.hpp"
#include "ranks/host_share.hpp"
#include "trace/sink.hpp"
#include "transport/relay.hpp"
#include "transport/shared_blocks.hpp"

namespace quorate {

/// The workers of a run as the engine of a share's owner sees them, beside the coordinator's
/// engine. Both have the same scheme, and the coordinator says what its fleet has told it. So this
/// engine does the same, on the vectors of the share: its points, estimates and models are slices.
/// What the overrides do is said in fleet/fleet.hpp. For a thread of its own; all calls but
/// wait(), sums(), sum_of_blocks(), adopt(), begin(), hold_kept(), end() and hand_over() return
/// at once.
/// @throws transport::Closed from these if the rank needs its thread no more
class OwnerFleet final : public Fleet {
public:
    /// @param relay  to the coordinator and the other owners; must outlive this object
    /// @param ranks  of the run
    OwnerFleet(transport::Relay& relay, const Ownership& ownership, Wire wire, Precision precision,
               int ranks);

    /// Waits until all owners are ready.
    /// @return what the coordinator says that the run goes on from; null: it begins
    std::shared_ptr<transport::Bytes> begin();
    /// Sets what returns the vectors that are to be joined. They are those of the last update.
    void join_from(std::function<std::vector<StateVector>()> vectors)
    {
        vectors_ = std::move(vectors);
    }
    /// Sets what keeps the state after the last update in memory.
    void keep_by(std::function<void()> keep) { keep_ = std::move(keep); }
    /// Becomes true when the coordinator ends the run.
    const std::atomic<bool>& ended() const { return ended_; }
    /// Waits for the end of the run.
    /// @return the last round of which the coordinator has kept a model; 0: none
    std::int64_t end();
    /// Holds the share's slice of a vector until the coordinator asks for it.
    /// @param memory  owns the slice; null: that lives until hand_over() returns
    void hold(const SliceName& name, ConstNumbers slice, std::shared_ptr<const void> memory);
    /// The same of a model that is kept. Waits if twice trace::iterates_in_memory are held.
    void hold_kept(std::int64_t round, const Point& slice);
    /// Waits until the coordinator has all that is held. After end().
    void hand_over();

    const std::vector<WorkerInfo>& workers() const override { return info_; }
    int groups() const override { return share_.groups(); }
    PointMemory* point_memory() override { return share_.point_memory(); }
    Seconds now() const override { return now_; }
    void dispatch(const Dispatch& task, PointList inputs) override
    {
        share_.dispatch(task, inputs);
    }
    void close(Worker worker, TaskId task) override { share_.forget(worker, task); }
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) override;
    void fired(int timer) override;
    void change(const Change&) override {}  // the coordinator tells of changes
    std::vector<Change> changes(std::int64_t) override { return std::exchange(changes_, {}); }
    /// The coordinator knows whether workers join, and ends the run if none does.
    bool joins() const override { return true; }
    void reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members) override;
    /// Takes the values from the coordinator. Waits for them.
    std::size_t adopt(Worker worker, const Values& values) override;
    void set_clock(Seconds now, std::span<const std::int64_t>) override
    {
        now_ = std::max(now_, now);
    }
    std::vector<std::optional<Values>> sums(std::span<const std::vector<Weighted>> groups) override;
    void sum_of_blocks(std::span<const double> blocks, std::span<double> sums,
                       bool decides) override;
    const Support& support(Worker worker) override { return share_.support(worker); }
    Losses losses(std::size_t handle) override { return contributions_.at(handle).losses; }
    /// Of all parameters; of workers of this host.
    Values values(std::size_t handle) override;
    void release(std::size_t handle) override;
    std::int64_t bytes_sent() const override { return 0; }  // the coordinator counts
    std::int64_t bytes_received() const override { return 0; }

private:
    struct Held {
        Worker worker = -1;
        Losses losses = {};
        std::shared_ptr<const double> memory = {};    // of a worker of this host
        std::size_t first = 0, length = 0;            // numbers of it
        std::shared_ptr<const Adopted> adopted = {};  // if it came so
    };
    void receive();
    void hold_vectors();
    void take_wish(const SliceName& name);
    void send_slice(const SliceName& name, ConstNumbers slice);
    EngineEvent next_event();
    std::vector<Arrival> hold(std::vector<EngineEvent::Came> arrivals);

    transport::Relay& relay_;
    transport::Pool pool_;
    Precision precision_;
    std::vector<WorkerInfo> info_;
    std::map<std::int64_t, BorrowedBlocks> peers_;  // by worker
    HostShare share_;
    std::deque<EngineEvent> events_;  // that the engine has not been told of
    // What workers have with each code that was made again, before this engine has made it.
    std::deque<std::vector<ShareWorker>> codings_;
    Numbered<Held> contributions_;
    std::vector<Change> changes_;
    std::shared_ptr<transport::Bytes> past_;
    std::deque<Adopted> adopted_;  // that the engine has not asked for
    std::function<std::vector<StateVector>()> vectors_;
    std::function<void()> keep_;
    std::int64_t joined_ = 0;  // how often
    struct Slice {
        ConstNumbers numbers;
        std::shared_ptr<const void> memory;
    };
    std::map<SliceName, Slice> held_;  // until the coordinator asks for them
    std::set<SliceName> wanted_;       // that it has asked for before they were there
    std::size_t bytes_of_kept_ = 0;    // of those held
    bool handing_over_ = false;        // nothing more will be held
    std::int64_t timer_ = -1;          // that has gone off; -1: none
    std::int64_t kept_ = 0;
    std::atomic<bool> ended_ = false;
    Seconds now_ = 0;
};

/// A sink that holds the models for the coordinator, who has the rows. Local.
class ModelSlices final : public trace::Sink {
public:
    /// @param fleet  must outlive this object
    explicit ModelSlices(OwnerFleet& fleet) : fleet_(fleet) {}
    void add(const trace::Row&) override {}
    void keep(std::int64_t round, trace::Iterate model) override
    {
        fleet_.hold_kept(round, model);
        last_ = round;
    }
    trace::Position position() override { return {}; }
    /// The last round of which a model was kept; 0: none.
    std::int64_t last() const { return last_; }

private:
    OwnerFleet& fleet_;
    std::int64_t last_ = 0;
};

}  // namespace quorate
